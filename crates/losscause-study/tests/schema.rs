//! The JSON of a run has the fields of its schema.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::collections::BTreeSet;
use std::path::Path;

use losscause_study::run::{Series, SimulationResult};
use losscause_study::{Context, Experiment, Run, Scenario, Setting};

#[test]
fn a_result_has_its_schemas_fields_and_is_read_back_unchanged() {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/last-hop-video.toml");
    let settings =
        [Setting::parse("duration_s=30").unwrap(), Setting::parse("measure.to_s=30").unwrap()];
    let scenario = Scenario::load(&scenario, &Context::default()).unwrap().with(&settings).unwrap();
    let experiment = Experiment { delays: true, ..scenario.experiment().unwrap() };
    let mut run = Run::new(&experiment, 3).unwrap();
    run.finish(&mut ());
    let runs = [run.measurements(), run.measurements()];
    let mut result = SimulationResult::of_measurements(&scenario, &settings, &experiment, 3, &runs);
    let mut series = Series::default();
    series.take(&run);
    result.series = series.into_rows();
    let json = serde_json::to_string(&result).unwrap();
    let again: SimulationResult = serde_json::from_str(&json).unwrap();
    assert_eq!(again, result);
    let order = |result: &SimulationResult| result.metrics.keys().cloned().collect::<Vec<_>>();
    assert_eq!(order(&again), order(&result), "the order of the metrics is part of the text");
    assert_eq!(order(&result)[..3], ["thput", "thput_intact", "cong"]);
    assert_eq!(
        (result.format_version, result.seed, &result.settings[0]),
        (2, 3, &"duration_s=30".to_owned())
    );

    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let schema: serde_json::Value = serde_json::from_str(SimulationResult::SCHEMA).unwrap();
    let same_fields = |schema: &serde_json::Value, value: &serde_json::Value| {
        let names = |value: &serde_json::Value| {
            value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>()
        };
        let required = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap().to_owned());
        assert_eq!(names(&schema["properties"]), names(value));
        assert_eq!(required.collect::<BTreeSet<_>>(), names(value), "every field is always there");
        assert_eq!(schema["additionalProperties"], false);
    };
    same_fields(&schema, &json);
    same_fields(&schema["$defs"]["MetricEstimate"], &json["metrics"]["thput"]);
    same_fields(&schema["$defs"]["FlowMeasurements"], &json["flows"][0]);
    same_fields(&schema["$defs"]["LinkMeasurements"], &json["links"][0]);
    same_fields(&schema["$defs"]["Percentiles"], &json["flows"][0]["rtt_ms"]);
    same_fields(&schema["$defs"]["RunMetrics"], &json["each_run"][1]);
    same_fields(&schema["$defs"]["SeriesRow"], &json["series"][0]);
    same_fields(&schema["$defs"]["Warning"], &json["warnings"][0]);
    assert!(serde_json::from_value::<SimulationResult>(json_with(json, "surprise")).is_err());
}

fn json_with(mut json: serde_json::Value, key: &str) -> serde_json::Value {
    json[key] = true.into();
    json
}

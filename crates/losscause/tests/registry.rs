//! Algorithms by name, and their settings.

use std::collections::BTreeSet;

use losscause::lda::Constant;
use losscause::registry::{Info, Setting, Value};
use losscause::{Algorithm, BuiltIn, ConfigError, End, LdaConfig, Span, Verdict};

#[test]
fn every_algorithm_is_found_by_its_unique_names_in_any_case() {
    let mut seen = BTreeSet::new();
    for &algorithm in BuiltIn::ALL {
        let info = algorithm.info();
        for name in info.names() {
            assert!(seen.insert(name.to_lowercase()), "{name} is used twice");
            assert_eq!(BuiltIn::from_name(name), Some(algorithm));
            assert_eq!(BuiltIn::from_name(&name.to_uppercase()), Some(algorithm));
            assert_eq!(name.parse(), Ok(algorithm));
        }
        assert_eq!(algorithm.build(End::Sender).expect("for senders").name(), info.name);
        match algorithm.config().build(End::Receiver) {
            Ok(at_receiver) => assert_eq!(at_receiver.name(), info.name),
            Err(error) => assert_eq!(error, ConfigError::ForSenders { algorithm: info.name }),
        }
        assert_eq!(
            algorithm.build(End::Receiver).is_ok(),
            BuiltIn::at_receivers().any(|other| other == algorithm)
        );
        assert!(!info.summary.is_empty() && !info.summary.contains('\n'));
    }
    assert_eq!(BuiltIn::from_name("biazz"), None);
    let error = "biazz".parse::<BuiltIn>().expect_err("no such algorithm").to_string();
    assert!(error.contains("mBiaz") && error.contains("ZBS"), "{error}");
}

/// All settings, a hybrid's base schemes' included, with their full keys.
fn settings(algorithm: &Info) -> Vec<(String, Setting)> {
    let own = algorithm.settings.iter().map(|s| (s.key.to_owned(), *s));
    let of_bases = algorithm.bases.iter().flat_map(|(prefix, base)| {
        settings(base).into_iter().map(move |(key, setting)| (format!("{prefix}.{key}"), setting))
    });
    own.chain(of_bases).collect()
}

#[test]
fn every_listed_setting_can_be_read_and_written_back() {
    for &algorithm in BuiltIn::ALL {
        let published = algorithm.config();
        for (key, _) in settings(algorithm.info()) {
            let value =
                published.get(&key).unwrap_or_else(|| panic!("{algorithm}: {key} cannot be read"));
            let mut config = published.clone();
            config.set(&key, value).unwrap_or_else(|e| panic!("{algorithm}: {e}"));
            assert_eq!(format!("{config:?}"), format!("{published:?}"), "{algorithm}: {key}");
        }
    }
    assert_eq!(settings(BuiltIn::Zbs.info()).len(), 10 + 5 + 7 + 5);
}

#[test]
fn published_parameters_are_those_of_the_paper() {
    for (algorithm, key, value) in [
        (BuiltIn::Biaz, "upper_limit", 2.0),
        (BuiltIn::MBiaz, "upper_limit", 1.25),
        (BuiltIn::Spike, "alpha", 0.5),
        (BuiltIn::Spike, "beta", 1.0 / 3.0),
        (BuiltIn::SpikeTobe, "start_ms", 20.0),
        (BuiltIn::SpikeTobe, "end_ms", 5.0),
        (BuiltIn::ZigZag, "alpha", 0.03125),
        (BuiltIn::FlipFlop, "history", 10.0),
        (BuiltIn::FlipFlop, "eta", 5.0),
        (BuiltIn::VegasBuffer, "alpha", 1.0),
        (BuiltIn::VegasBuffer, "beta", 3.0),
        (BuiltIn::Veno, "beta", 3.0),
        (BuiltIn::CdgTolerance, "rounding_ms", 0.064),
        (BuiltIn::FqRtt, "above_min_ms", 5.0),
        (BuiltIn::NthLoss, "n", 2.0),
        (BuiltIn::DropRate, "gain", 0.0625),
        (BuiltIn::DropRate, "gap_limit", 32.0),
        (BuiltIn::DropRate, "threshold", 0.15),
        (BuiltIn::RollBack, "share", 0.2),
        (BuiltIn::RollBack, "least", 2.0),
        (BuiltIn::Zbs, "rott_margin", 0.05),
        (BuiltIn::Zbs, "unshared_from", 0.875),
        (BuiltIn::Zbs, "ambiguous_from", 1.5),
        (BuiltIn::Zbs, "shared_from", 2.0),
        (BuiltIn::Zbs, "t_avg_gain", 0.125),
        (BuiltIn::Zbs, "lock_ms", 3000.0),
        (BuiltIn::Zbs, "lock_pkts", 50.0),
        (BuiltIn::Zbs, "mbiaz.upper_limit", 1.25),
        (BuiltIn::Zbs, "spike.alpha", 0.5),
        (BuiltIn::Zbs, "zigzag.alpha", 0.03125),
    ] {
        assert_eq!(algorithm.config().get(key), Some(Value::Number(value)), "{algorithm}: {key}");
    }
}

#[test]
fn settings_reach_the_parameters_they_name() {
    let mut config = BuiltIn::Zbs.config();
    config.set("lock_ms", Value::Number(1.5)).expect("a number");
    config.set("spike.beta", Value::Number(0.25)).expect("a number");
    config.set("zigzag.above_three", Value::Text("mean")).expect("a choice");
    config.set("lock_at_start", Value::Flag(false)).expect("a flag");
    assert_eq!(config.get("spike.beta"), Some(Value::Number(0.25)));
    let LdaConfig::Zbs(zbs) = config else { panic!("still ZBS") };
    assert_eq!(zbs.lock, Span::from_micros(1_500));
    assert!(!zbs.lock_at_start);
    assert_eq!(zbs.zigzag.above_three, losscause::lda::AboveThree::Mean);
}

#[test]
fn a_limit_below_two_makes_mbiaz_of_biaz() {
    let mut config = BuiltIn::Biaz.config();
    config.set("upper_limit", Value::Number(1.5)).expect("a number");
    assert_eq!(config.build(End::Receiver).expect("valid").name(), "mBiaz");
}

fn error(algorithm: BuiltIn, settings: &[(&str, Value<'_>)]) -> String {
    let mut config = algorithm.config();
    for (key, value) in settings {
        if let Err(error) = config.set(key, *value) {
            return error.to_string();
        }
    }
    config.build(End::Receiver).map(|_| ()).expect_err("the settings are wrong").to_string()
}

#[test]
fn wrong_settings_are_refused_in_one_sentence() {
    use Value::{Flag, Number, Text};
    for (algorithm, settings, expected) in [
        (
            BuiltIn::Biaz,
            &[("upper_limit", Number(1.0))][..],
            "upper_limit is 1 but must be a number above 1",
        ),
        (
            BuiltIn::Biaz,
            &[("upper_limit", Number(f64::NAN))],
            "upper_limit is NaN but must be a number above 1",
        ),
        (BuiltIn::Biaz, &[("upper_limit", Text("2"))], "upper_limit must be a number"),
        (
            BuiltIn::MBiaz,
            &[("t_min_over", Text("gaps"))],
            "t_min_over must be one of \"all-intervals\", \"consecutive-packets\"",
        ),
        (
            BuiltIn::Spike,
            &[("beta", Number(0.6))],
            "beta is 0.6 but must not be larger than alpha, which is 0.5",
        ),
        (
            BuiltIn::Spike,
            &[("alpha", Number(2.1))],
            "alpha is 2.1 but must be a number from 0 to 2",
        ),
        (
            BuiltIn::Spike,
            &[("beta", Number(-0.1))],
            "beta is -0.1 but must be a number from 0 to alpha",
        ),
        (
            BuiltIn::SpikeTobe,
            &[("end_ms", Number(30.0))],
            "end_ms is 30 but must not be larger than start_ms, which is 20",
        ),
        (
            BuiltIn::SpikeTobe,
            &[("alpha", Number(0.5))],
            "Spike-Tobe has no such setting; it has start_ms, end_ms, current_packet, update, judged_by, window_ms, window_pkts",
        ),
        (
            BuiltIn::Spike,
            &[("window_ms", Number(-1.0))],
            "window_ms is -1 but must be a number that is not negative",
        ),
        (
            BuiltIn::Biaz,
            &[("window_pkts", Number(3.0))],
            "window_pkts is 3 but must be 0 (no limit), or at least 4 and without window_ms",
        ),
        (
            BuiltIn::Zbs,
            &[("mbiaz.window_pkts", Number(40.0)), ("mbiaz.window_ms", Number(1000.0))],
            "window_pkts is 40 but must be 0 (no limit), or at least 4 and without window_ms",
        ),
        (
            BuiltIn::ZigZag,
            &[("alpha", Number(0.0))],
            "alpha is 0 but must be a number above 0, up to 0.5",
        ),
        (BuiltIn::Zbs, &[("lock_at_start", Number(1.0))], "lock_at_start must be true or false"),
        (
            BuiltIn::Zbs,
            &[("lock_pkts", Number(1.5))],
            "lock_pkts is 1.5 but must be a whole number from 0 to 2^32 - 1",
        ),
        (
            BuiltIn::Zbs,
            &[("lock_ms", Number(-1.0))],
            "lock_ms is -1 but must be a number that is not negative",
        ),
        (
            BuiltIn::Zbs,
            &[("shared_from", Number(1.25))],
            "ambiguous_from is 1.5 but must not be larger than shared_from, which is 1.25",
        ),
        (
            BuiltIn::Zbs,
            &[("spike.beta", Number(0.75))],
            "beta is 0.75 but must not be larger than alpha, which is 0.5",
        ),
        (BuiltIn::AlwaysWireless, &[("alpha", Flag(true))], "always wireless has no such setting"),
    ] {
        assert_eq!(error(algorithm, settings), expected);
    }
    let unknown = error(BuiltIn::Zbs, &[("spike.gamma", Number(1.0))]);
    assert!(
        unknown.starts_with("ZBS has no such setting; it has rott_margin, ")
            && unknown.contains("spike.…"),
        "{unknown}"
    );
    assert_eq!(BuiltIn::Zbs.config().get("spike.gamma"), None);
    assert_eq!(
        LdaConfig::Constant(Constant::new(Verdict::Wireless)).set("x", Number(1.0)),
        Err(ConfigError::UnknownSetting { algorithm: BuiltIn::AlwaysWireless.info() })
    );
}

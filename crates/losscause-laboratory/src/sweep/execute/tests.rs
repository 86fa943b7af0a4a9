//! Sweeps as a whole: their results, and what a directory holds.

use std::path::{Path, PathBuf};

use super::*;
use crate::sweep::Overrides;
use losscause_study::{Context, Jobs, Stop};

const SCENARIO: &str = r#"
title = "t"
duration_s = 20
[measure]
bottleneck = "a"
[[link]]
name = "a"
rate_bps = 1e6
delay_ms = 1
queue_packets = 3
channel = { kind = "trace", file = "errors.txt" }
[[flow]]
name = "f"
protocol = "cbr"
path = ["a"]
rate_bps = 5e5
measured = true
"#;

const SWEEP: &str = r#"
title = "t"
runs = 8
scenario = "s.toml"
metrics = ["goodput", "wireless_drops"]
[[axis]]
key = "flow.f.rate_bps"
values = [5e5, 2e5, 1e5]
"#;

/// A directory with a scenario and a sweep of three cells, 24 runs.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("s.toml", SCENARIO);
        place.write("errors.txt", "0 0 0 1 0 0 0 0 0 0 1 0 0");
        place.write("sweep.toml", SWEEP);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn sweep(&self) -> Sweep {
        Sweep::load(&self.path("sweep.toml"), &Context::default()).unwrap()
    }

    /// Where its results are kept.
    fn store(&self) -> Store {
        Store::new(&self.path("out"))
    }

    fn execute(&self, store: Option<&Store>) -> Result<SweepOutcome, String> {
        let outcome = self.sweep().execute(Jobs::default(), store, go_on);
        outcome.map_err(|error| error.to_string())
    }

    fn resume(&self) -> Result<SweepOutcome, String> {
        self.execute(Some(&self.store().resuming()))
    }

    /// Its results, kept nowhere.
    fn result(&self) -> SweepResult {
        self.execute(None).unwrap().result.unwrap()
    }

    /// The finished cells that are kept, a line each.
    fn finished(&self) -> String {
        std::fs::read_to_string(self.path("out/cells/finished.jsonl")).unwrap()
    }

    fn out(&self) -> String {
        self.path("out").display().to_string()
    }
}

fn go_on(_: SweepProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Every file below the directory with its content.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push((path.clone(), std::fs::read(path).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let place = Place::new();
    let outcome =
        |jobs: usize| place.sweep().execute(Jobs::new(jobs).unwrap(), None, go_on).unwrap();
    let one = outcome(1);
    assert_eq!((one.finished, one.resumed, one.is_stopped), (3, 0, false));
    let seeds: Vec<u64> =
        one.result.as_ref().unwrap().cells[2].runs.iter().map(|run| run.seed).collect();
    assert_eq!(seeds, [1, 2, 3, 4, 5, 6, 7, 8]);
    for jobs in [2, 3, 50] {
        assert!(outcome(jobs) == one, "{jobs} threads");
    }
}

const SAMPLED: &str = r#"
title = "t"
runs = 2
scenario = "s.toml"
metrics = ["goodput"]
sampler = { kind = "sobol", cells = 5 }
[[axis]]
key = "flow.f.rate_bps"
range = { from = 1e5, to = 5e5, scale = "log" }
[[axis]]
key = "link.a.queue_packets"
values = [3, 30]
"#;

#[test]
fn a_cell_of_a_sampled_sweep_has_its_own_draw_and_its_own_seeds() {
    let place = Place::new();
    place.write("sweep.toml", SAMPLED);
    let result = place.result();
    assert_eq!(
        (result.sampler.as_deref(), result.is_grid, result.seeds_by_cell),
        (Some("sobol"), false, true)
    );
    let rates: Vec<f64> =
        result.cells.iter().map(|cell| cell.cell.values[0].value.parse().unwrap()).collect();
    assert!(rates.iter().all(|rate| (1e5..=5e5).contains(rate)), "{rates:?}");
    let goodput = |cell: &CellOutcome| cell.rows[0].measured.unwrap();
    for (cell, rate) in result.cells.iter().zip(&rates) {
        assert!((goodput(cell) / rate * 1e3 - 1.0).abs() < 0.3);
    }
    let mut seeds: Vec<u64> =
        result.cells.iter().flat_map(|cell| cell.runs.iter().map(|run| run.seed)).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 10, "no two runs share a seed");
    assert_eq!(place.sweep().cells_in(2..4), place.sweep().cells()[2..4]);
}

#[test]
fn cells_may_share_their_seeds_or_not_whatever_the_sampler() {
    let place = Place::new();
    let seeds = |text: &str| {
        place.write("sweep.toml", text);
        let result = place.result();
        let seeds = result.cells.iter().map(|cell| cell.runs[0].seed);
        seeds.collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(seeds(SWEEP), 1);
    assert_eq!(seeds(&format!("seeds = \"by-cell\"\n{SWEEP}")), 3);
    assert_eq!(seeds(SAMPLED), 5);
    assert_eq!(seeds(&format!("seeds = \"shared\"\n{SAMPLED}")), 1);
}

#[test]
fn a_sweep_with_results_beyond_memory_needs_a_directory() {
    let place = Place::new();
    place.write("sweep.toml", &SAMPLED.replace("cells = 5", "cells = 100001"));
    let sweep = place.sweep();
    assert_eq!((sweep.count(), sweep.cells_in(100_000..100_001)[0].number), (100_001, 100_000));
    let refusal = place.execute(None).unwrap_err();
    let expected = "axis: makes 100001 cells, and without a directory at most 100000 fit into memory; expected fewer, or a \
                    directory";
    assert!(refusal.ends_with(expected), "{refusal}");
}

#[test]
fn a_sweep_with_more_cells_than_memory_has_the_same_files() {
    let place = Place::new();
    let out = place.store();
    let expected = place.execute(Some(&out)).unwrap().result.unwrap();
    let files = files(&place.path("out"));
    for resumed in [0, 2] {
        let kept = place.finished();
        let some: String = kept.split_inclusive('\n').rev().take(resumed).collect();
        std::fs::remove_file(place.path("out/sweep.json")).unwrap();
        place.write("out/cells/finished.jsonl", &some);
        let out = out.clone().resuming();
        let outcome =
            place.sweep().execute_holding(2, Jobs::default().into(), Some(&out), go_on).unwrap();
        assert_eq!((outcome.finished, outcome.resumed, outcome.result), (3, resumed, None));
        assert!(self::files(&place.path("out")) == files);
    }
    assert_eq!(expected.json(), serde_json::to_string_pretty(&expected).unwrap() + "\n");
    let memory = place.sweep().execute_holding(2, Jobs::default().into(), None, go_on).unwrap();
    assert_eq!(memory.result, Some(expected), "without a directory they are held");
}

#[test]
fn a_sweep_of_more_random_or_sobol_cells_keeps_the_finished() {
    for kind in ["sobol", "random"] {
        let place = Place::new();
        let of = |cells: &str| {
            place.write("sweep.toml", &SAMPLED.replace("sobol", kind).replace("cells = 5", cells));
        };
        of("cells = 12");
        place.resume().unwrap();
        let expected = files(&place.path("out"));
        std::fs::remove_dir_all(place.path("out")).unwrap();
        of("cells = 5");
        place.resume().unwrap();
        of("cells = 12");
        assert_eq!(place.resume().unwrap().resumed, 5);
        assert!(files(&place.path("out")) == expected, "the same bytes as at once");
        of("cells = 11");
        let refused = format!(
            "{}: was begun with 12 cells, not 11, which would lose finished ones, ",
            place.out()
        );
        assert!(place.resume().unwrap_err().starts_with(&refused));
    }
}

#[test]
fn a_latin_hypercube_has_a_fixed_number_of_cells() {
    let place = Place::new();
    let text = SAMPLED.replace("sobol", "latin-hypercube");
    place.write("sweep.toml", &text);
    place.resume().unwrap();
    place.write("sweep.toml", &text.replace("cells = 5", "cells = 6"));
    let expected = format!(
        "{}: was begun with 5 cells, not 6, and a Latin hypercube of another number of cells has none of them, expected \
         the same sweep; --restart drops its cells and starts anew",
        place.out()
    );
    assert_eq!(place.resume().unwrap_err(), expected);
}

/// 3,001 cells of some 20 µs.
const LISTED: &str = r#"
title = "t"
scenario = "s.toml"
metrics = ["goodput"]
cells = [
  [5e5, { name = "few", value = 3 }],
  [2e5, { name = "few", value = 3 }],
  [5e5, 9],
]
[[axis]]
key = "flow.f.rate_bps"
[[axis]]
key = "link.a.queue_packets"
"#;

#[test]
fn a_row_is_a_cell() {
    let place = Place::new();
    place.write("sweep.toml", LISTED);
    let sweep = place.sweep();
    let cells: Vec<String> = sweep.cells().iter().map(|cell| cell.settings.join(" ")).collect();
    assert_eq!(
        cells,
        [
            "flow.f.rate_bps=500000.0 link.a.queue_packets=3",
            "flow.f.rate_bps=200000.0 link.a.queue_packets=3",
            "flow.f.rate_bps=500000.0 link.a.queue_packets=9"
        ]
    );
    let result = place.execute(Some(&place.store())).unwrap().result.unwrap();
    assert_eq!((result.sampler.as_deref(), result.is_grid), (Some("listed"), false));
    assert_eq!(place.resume().unwrap().resumed, 3);

    let few = "{ name = \"few\", value = 3 }";
    let values = format!("_packets\"\nvalues = [{few}, 9]\n");
    place.write("sweep.toml", &LISTED.replace(few, "\"few\"").replace("_packets\"\n", &values));
    let by_name = place.sweep().cells().into_iter().map(|cell| cell.settings.join(" "));
    assert_eq!(by_name.collect::<Vec<_>>(), cells);
    place.write("sweep.toml", LISTED);

    let own_runs = LISTED.replace(" }],", " }, 2],").replace("9],", "9, 5],");
    place.write("sweep.toml", &format!("{own_runs}[[axis]]\nname = \"runs\"\n"));
    let result = place.result();
    let runs = result.cells.iter().map(|cell| (cell.runs.len(), cell.rows[0].runs));
    assert_eq!(runs.collect::<Vec<_>>(), [(2, 2), (2, 2), (5, 5)]);
    assert_eq!(result.runs_in_words(), "up to 5 runs");
    assert!(place.sweep().with(&Overrides { runs: Some(3), ..Overrides::default() }).is_err());

    let refused = |from: &str, to: &str| {
        place.write("sweep.toml", &LISTED.replace(from, to));
        let error = Sweep::load(&place.path("sweep.toml"), &Context::default()).unwrap_err();
        error.to_string().rsplit("sweep.toml: ").next().unwrap().to_owned()
    };
    let expected = "cells.3: has 1 values, expected one for each of 2 axes";
    assert_eq!(refused("[5e5, 9]", "[5e5]"), expected);
    assert_eq!(refused("[2e5,", "[5e5,"), "cells.2: occurs twice, expected it once");
    let both = "cells: cannot be combined with a sampler or a range; remove them";
    let range = "_packets\"\nrange = { from = 1, to = 3 }\n";
    assert_eq!(refused("_packets\"\n", range), both);
    let unnamed = refused("_packets\"\n", "_packets\"\nvalues = [3]\n");
    assert_eq!(unnamed, "cells.1.2: \"few\" is unknown, expected \"3\"");
    assert_eq!(refused("cells =", "sampler = { kind = \"sobol\", cells = 3 }\ncells ="), both);
    let other = refused("[2e5, { name = \"few\", value = 3 }]", "[2e5, { name = \"few\" }]");
    assert!(other.ends_with("values: \"few\" occurs twice, expected it once"), "{other}");
}

const LATE_ERROR: &str = r#"
title = "t"
runs = 1
scenario = "s.toml"
metrics = ["goodput"]
[[axis]]
key = "d"
range = { from = 1, to = 1.4, steps = 3001 }
"#;

#[test]
fn an_error_in_an_unchecked_cell_names_it_and_loses_no_other() {
    let place = Place::new();
    place.write("sweep.toml", LATE_ERROR);
    let sweep = place.sweep();
    let checked = Cells::of(&sweep).to_check(1_000);
    let late =
        (0..sweep.count()).find(|number| !checked.contains(number) && *number > 500).unwrap();
    // In this cell alone the flow has no rate.
    let d = &sweep.cells_in(late..late + 1)[0].values[0].value;
    let scenario =
        SCENARIO.replace("rate_bps = 5e5", &format!("rate_bps = \"if(d == {d}, 0, 5e5)\""));
    let scenario = scenario.replace("duration_s = 20\n", "duration_s = 1\n[parameters]\nd = 1\n");
    place.write("s.toml", &scenario);
    let store = place.store();
    let error = place.sweep().execute(Jobs::new(1).unwrap(), Some(&store), go_on).unwrap_err();
    assert!(error.is_bad_input());
    let error = error.to_string();
    let expected = format!("{}: cell {late}: ", place.path("sweep.toml").display());
    assert!(error.starts_with(&expected) && error.lines().count() == 1, "{error}");
    let kept = place.finished();
    assert_eq!(kept.lines().count(), late, "those before it are kept");
}

#[test]
fn evenly_spaced_and_outermost_cells_are_checked_of_many() {
    let sweep = |text: &str| {
        let place = Place::new();
        place.write("sweep.toml", text);
        place.sweep()
    };
    let head = "title = \"t\"\nscenario = \"s.toml\"\nmetrics = [\"goodput\"]\n";
    let range = |key: &str, rest: &str| {
        format!("[[axis]]\nkey = \"{key}\"\nrange = {{ from = 1, to = 2{rest} }}\n")
    };
    let grid =
        sweep(&format!("{head}{}{}", range("a", ", steps = 100"), range("b", ", steps = 200")));
    let checked = Cells::of(&grid).to_check(11);
    // 20,000 cells: every 1999.9th, and the corners.
    let expected = [0, 199, 1999, 3999, 5999, 7999, 9999, 11999, 13999, 15999, 17999, 19800, 19999];
    assert_eq!(checked.into_iter().collect::<Vec<_>>(), expected);

    let values = "[[axis]]\nkey = \"c\"\nvalues = [1, 2, 3, 4, 5, 6]\n";
    let text = format!(
        "sampler = {{ kind = \"random\", cells = 2000 }}\n{head}{}{values}",
        range("a", "")
    );
    let drawn = sweep(&text);
    let cells = Cells::of(&drawn);
    let checked = cells.to_check(2);
    let at =
        |number: usize, axis: usize| cells.cell(number).values[axis].value.parse::<f64>().unwrap();
    let of = |numbers: &mut dyn Iterator<Item = usize>, axis: usize| {
        let values = numbers.map(|number| at(number, axis));
        values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)))
    };
    assert_eq!(of(&mut checked.iter().copied(), 0), of(&mut (0..2000), 0), "the furthest out");
    let listed: std::collections::BTreeSet<String> =
        checked.iter().map(|&number| cells.cell(number).values[1].value.clone()).collect();
    assert_eq!(listed.len(), 6, "every listed value");
    assert!(checked.len() <= 2 + 2 + 6);
}

#[test]
fn a_sampler_that_does_not_fit_is_refused() {
    let place = Place::new();
    let refusal = |from: &str, to: &str| {
        place.write("sweep.toml", &SAMPLED.replace(from, to));
        let error =
            Sweep::load(&place.path("sweep.toml"), &Context::default()).unwrap_err().to_string();
        error.rsplit("sweep.toml").next().unwrap().trim_start_matches(": ").to_owned()
    };
    assert_eq!(
        refusal("cells = 5", "cells = 0"),
        "sampler.cells: is 0, expected a whole number from 1 to 1000000"
    );
    assert_eq!(
        refusal("runs = 2", "mode = \"pairwise\""),
        "mode: combines values, and sampler \"sobol\" draws; remove it"
    );
    assert!(refusal("\"sobol\"", "\"sobel\"").contains("sobel"));
}

#[test]
fn cells_measured_elsewhere_in_any_parts_give_the_same_bytes() {
    for text in [SWEEP, SAMPLED] {
        let place = Place::new();
        place.write("sweep.toml", text);
        place.execute(Some(&place.store())).unwrap();
        let names = ["runs.csv", "sweep.csv", "sweep.json"];
        let read = || names.map(|name| std::fs::read(place.path("out").join(name)).unwrap());
        let expected = read();
        std::fs::remove_dir_all(place.path("out")).unwrap();
        let elsewhere = place.sweep().elsewhere().unwrap();
        let held = place.sweep().hold(&place.store()).unwrap();
        assert!(place.sweep().hold(&place.store()).is_err(), "it is locked");
        let mut values = place.sweep().values(0..1, Jobs::new(1).unwrap()).unwrap();
        values.extend(
            place.sweep().values(1..elsewhere.sweep().count(), Jobs::new(2).unwrap()).unwrap(),
        );
        let result = elsewhere.conclude(&values, Some(&held)).unwrap().unwrap();
        assert!(read() == expected);
        assert!(result.json().into_bytes() == expected[2]);
        assert!(elsewhere.conclude(&values[1..], None).is_err());
        let read: Vec<String> = elsewhere.files().unwrap().into_keys().collect();
        let mut expected = ["errors.txt", "s.toml", "sweep.toml"]
            .map(|name| place.path(name).display().to_string());
        expected.sort();
        assert_eq!(read, expected);
    }
}

#[test]
fn every_run_and_every_cell_is_told() {
    let place = Place::new();
    let mut runs = 0;
    let mut cells = vec![];
    let watch = |progress: SweepProgress<'_>| {
        assert_eq!((progress.all_runs, progress.cells), (24, 3));
        runs = progress.runs;
        cells.extend(progress.cell.map(|outcome| outcome.cell.number));
        ControlFlow::Continue(())
    };
    place.sweep().execute(Jobs::new(1).unwrap(), None, watch).unwrap();
    assert_eq!((runs, cells), (24, vec![0, 1, 2]));
}

#[test]
fn a_sweep_stopped_anywhere_and_resumed_has_the_same_bytes() {
    let whole = Place::new();
    let store = whole.store();
    whole.execute(Some(&store)).unwrap();
    let expected = files(&whole.path("out"));
    for after in [1, 9, 20] {
        std::fs::remove_dir_all(whole.path("out")).unwrap();
        let mut runs = 0;
        let stopped = whole.sweep().execute(Jobs::new(1).unwrap(), Some(&store), |progress| {
            runs = progress.runs;
            if runs >= after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let stopped = stopped.unwrap();
        if stopped.is_stopped {
            assert!(!whole.path("out/sweep.csv").exists(), "a stopped sweep has no results");
        }
        let resumed = whole.resume().unwrap();
        assert_eq!(resumed.resumed, stopped.finished);
        assert_eq!(stopped.result.unwrap().cells.len(), stopped.finished);
        assert!(files(&whole.path("out")) == expected, "after {after} runs");
    }
}

#[test]
fn a_stop_request_before_the_first_run_lets_none_start() {
    let place = Place::new();
    let stop = Stop::new();
    stop.request();
    let workers = Workers::from(Jobs::default()).stopping_at(&stop);
    let outcome = place.sweep().execute(workers, None, |_| panic!("nothing was run")).unwrap();
    assert!(outcome.is_stopped && outcome.result.unwrap().cells.is_empty());
}

#[test]
fn a_scored_sweep_stops_between_runs_too() {
    let text = "title = \"t\"\nruns = 400\nscore = [\"cen2003/table2\"]\n\
                [[axis]]\nkey = \"duration_s\"\nvalues = [221, 222]\n";
    let sweep = Sweep::parse(text, Path::new("s.toml"), &Context::default()).unwrap();
    let mut runs = 0;
    let outcome = sweep.execute(Jobs::new(2).unwrap(), None, |progress| {
        runs = progress.runs;
        ControlFlow::Break(())
    });
    assert!(outcome.unwrap().is_stopped && (1..100).contains(&runs), "{runs}");
}

#[test]
fn edited_data_are_noticed() {
    let place = Place::new();
    place.execute(Some(&place.store())).unwrap();
    assert_eq!(place.resume().unwrap().resumed, 3);
    let refused = |place: &Place, file: &str| {
        let expected = format!(
            "{}: was begun before {} was changed, expected the same sweep; --restart drops its cells and starts anew",
            place.out(),
            place.path(file).display()
        );
        assert_eq!(place.resume().unwrap_err(), expected);
    };
    for (file, text, edited) in [
        ("errors.txt", "0 0 0 1 0 0 0 0 0 0 1 0 0", "0 0 0 1 1 0 0 0 0 0 1 0 0"),
        ("s.toml", SCENARIO, &SCENARIO.replace("delay_ms = 1", "delay_ms = 2")),
        ("sweep.toml", SWEEP, &SWEEP.replace("1e5", "1.5e5")),
    ] {
        place.write(file, edited);
        refused(&place, file);
        place.write(file, text);
        assert_eq!(place.resume().unwrap().resumed, 3, "{file} is as it was");
    }
    place.write("sweep.toml", &format!("# a comment changes no result\n{SWEEP}"));
    assert_eq!(place.resume().unwrap().resumed, 3);
}

#[test]
fn finished_cells_are_dropped_on_demand_only_and_those_of_another_sweep_never() {
    let place = Place::new();
    let store = place.store();
    place.execute(Some(&store)).unwrap();
    let before = place.finished();
    let refused = |problem: &str| {
        let refused = place.sweep().execute(Jobs::default(), Some(&store), go_on).unwrap_err();
        assert!(refused.is_bad_input() && refused.to_string().contains(problem), "{refused}");
        assert_eq!(place.finished(), before);
    };
    refused("has finished cells of this sweep, expected --resume to keep them, or --restart");
    place.write("sweep.toml", &SWEEP.replace("5e5, 2e5, 1e5", "3e5"));
    refused("has finished cells and was begun before");
    // A sweep that begins leaves no table of the one before it.
    let restarting = store.clone().restarting();
    let held = place.sweep().hold(&restarting).unwrap();
    assert!(!place.path("out/sweep.csv").exists() && !place.path("out/sweep.json").exists());
    drop(held);
    place.execute(Some(&restarting)).unwrap();
    let kept = place.finished();
    assert_eq!(kept.lines().count(), 1);
    place.write("other.toml", SWEEP);
    let other = Sweep::load(&place.path("other.toml"), &Context::default()).unwrap();
    for store in [store.clone(), store.clone().restarting(), store.resuming()] {
        let refused = other.execute(Jobs::default(), Some(&store), go_on).unwrap_err();
        assert!(refused.is_bad_input());
        let expected = format!(
            "{}: holds the sweep {}, expected ",
            place.out(),
            place.path("sweep.toml").display()
        );
        assert!(refused.to_string().starts_with(&expected), "{refused}");
    }
    // Nor does one that finds tables without their cells.
    std::fs::remove_dir_all(place.path("out/cells")).unwrap();
    place.write("sweep.toml", &SWEEP.replace("5e5, 2e5, 1e5", "4e5"));
    assert!(place.path("out/sweep.csv").exists());
    let _held = place.sweep().hold(&place.store()).unwrap();
    assert!(!place.path("out/sweep.csv").exists() && !place.path("out/sweep.json").exists());
}

#[test]
fn a_directory_that_is_in_use_is_refused() {
    let place = Place::new();
    let store = place.store();
    let sweep = place.sweep();
    sweep.check_all().unwrap();
    let held = sweep.hold(&store).unwrap();
    let expected =
        format!("{}: is in use by another process, expected a directory of its own", place.out());
    assert_eq!(place.resume().unwrap_err(), expected);
    drop(held);
    place.resume().unwrap();
}

#[test]
fn a_damaged_cell_is_measured_again() {
    let place = Place::new();
    place.resume().unwrap();
    let expected = files(&place.path("out"));
    let kept = place.finished();
    let lines: Vec<&str> = kept.lines().collect();
    // A number changed, a line cut short, nothing at all.
    let other = lines[1].replacen("\"seed\":1", "\"seed\":7", 1);
    let cut = &lines[2][..40];
    for (damaged, intact) in [
        (format!("{}\n{other}\n{}\n", lines[0], lines[2]), 2),
        (format!("{}\n{}\n{cut}", lines[0], lines[1]), 2),
        (String::new(), 0),
    ] {
        place.write("out/cells/finished.jsonl", &damaged);
        assert_eq!(place.resume().unwrap().resumed, intact);
        assert!(files(&place.path("out")) == expected);
    }
}

#[test]
fn an_unfit_setting_is_refused_before_anything_is_measured() {
    let place = Place::new();
    place.write("sweep.toml", &SWEEP.replace("flow.f.rate", "flow.g.rate"));
    let store = place.store();
    let refused =
        place.sweep().execute(Jobs::default(), Some(&store), |_| panic!("no cell is finished"));
    assert!(refused.unwrap_err().to_string().contains("the flow \"g\" is unknown"));
    assert!(!place.path("out").exists());
}

#[test]
fn a_metric_that_no_run_has_is_refused_before_the_first_run() {
    let place = Place::new();
    let refused = |metrics: &str| {
        place.write("sweep.toml", &SWEEP.replace("\"goodput\", \"wireless_drops\"", metrics));
        let error = place.sweep().execute(Jobs::default(), None, |_| panic!("no run")).unwrap_err();
        error.to_string().replace(&place.path("").display().to_string(), "")
    };
    let unknown = refused("\"goodputt\"");
    let expected = "sweep.toml: metrics: \"goodputt\" is unknown (did you mean \"goodput\"?), expected one of ";
    assert!(unknown.starts_with(expected), "{unknown}");
    let text = SWEEP.replace(
        "5e5, 2e5",
        "5e5, { name = \"x\", value = 2e5, metrics = { goodput = \"thput\" } }",
    );
    place.write("sweep.toml", &text);
    let error = place.sweep().check_all().unwrap_err().to_string();
    assert!(error.ends_with(
        "metrics: goodput is read from thput in percent and elsewhere in kb/s, expected one unit"
    ));
}

#[test]
fn the_command_line_may_say_otherwise_but_not_about_an_axis() {
    let place = Place::new();
    let with = |runs, set: &str| {
        let set = vec![losscause_study::Setting::parse(set).unwrap()];
        place.sweep().with(&Overrides { runs: Some(runs), seed: Some(9), set })
    };
    let outcome = with(1, "duration_s=5").unwrap().execute(Jobs::default(), None, go_on).unwrap();
    let result = outcome.result.unwrap();
    let cell = &result.cells[2];
    assert_eq!((cell.runs.len(), cell.runs[0].seed, cell.rows[0].runs), (1, 9, 1));
    assert_eq!(result.settings, ["duration_s=5"]);
    let refused = with(1, "flow.f.rate_bps=1").unwrap_err().to_string();
    let expected = "--set flow.f.rate_bps=1: the axis flow.f.rate_bps of ";
    assert!(refused.starts_with(expected));
    assert!(refused.ends_with(" sets this key too, expected another key"));
    assert!(with(0, "duration_s=5").unwrap_err().to_string().starts_with("--runs 0: "));
    let refused = with(1, "duraton_s=5").unwrap_err().to_string();
    assert!(refused.contains("did you mean \"duration_s\"?"));
}

#[test]
fn a_cell_whose_label_would_be_wrong_is_refused_and_no_other() {
    let checked = |rest: &str| {
        let text =
            format!("title = \"t\"\nscenario = \"cen2003/WLH\"\nmetrics = [\"thput\"]\n{rest}\n");
        let sweep = Sweep::parse(&text, Path::new("s.toml"), &Context::default()).unwrap();
        sweep.check_all().map_err(|error| error.to_string())
    };
    let axis = "[[axis]]\nkey = \"link.last.delay_ms\"\nvalues = [1, 2]\n";
    let system = |set: &str| format!("[[system]]\nname = \"s\"\nset = ['{set}']\n{axis}");
    let told = |place: &str, later: &str| {
        Err(format!(
            "s.toml: {place}: a cell with link.last.delay_ms=1 would be measured with {later}, expected one setting of \
             each key"
        ))
    };
    assert_eq!(checked(&system("link.last.delay_ms=5")), told("system.s", "link.last.delay_ms=5"));
    let table = "link.last = { rate_bps = 1e6 }";
    assert!(checked(&system(table)).unwrap_err().contains("system.s: a cell with link.last.delay"));
    assert_eq!(checked(&system("link.shared.delay_ms=5")), Ok(()), "another key");
    let second = "[[axis]]\nname = \"b\"\nvalues = [{ name = \"x\" }, \
                  { name = \"y\", set = [\"link.last.delay_ms=9\"] }]\n";
    let both = format!("{axis}{second}");
    assert_eq!(checked(&both), told("axis", "link.last.delay_ms=9"));
    let named = axis.replace("[1, 2]", "[{ name = \"as it is\" }, { name = \"2\", value = 2 }]");
    let apart = format!("mode = \"one-at-a-time\"\n{named}{second}");
    assert_eq!(checked(&apart), Ok(()), "no cell sets it twice");
}

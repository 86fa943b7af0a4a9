//! Bad input ends with one sentence that names file, key and expectation, with exit status 2, and
//! leaves no file.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;
use std::process::Command;

const SCENARIO: &str = include_str!("common/scenario.toml");

const SWEEP: &[u8] = b"title = \"t\"\nscenario = \"s.toml\"\nmetrics = [\"goodput\"]\n\
    [[axis]]\nkey = \"link.radio.delay_ms\"\nvalues = [1, 2]\n";

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("s.toml", SCENARIO.as_bytes());
        place
    }

    fn write(&self, name: &str, content: &[u8]) {
        std::fs::write(self.0.path().join(name), content).unwrap();
    }

    /// The scenario with some texts changed.
    fn all_changed(&self, changes: &[(&str, &str)]) {
        let mut text = SCENARIO.to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        self.write("s.toml", text.as_bytes());
    }

    /// The scenario with one text changed.
    fn changed(&self, from: &str, to: &str) {
        self.all_changed(&[(from, to)]);
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program, which must refuse with exactly this sentence and leave the directory as it
    /// was.
    fn refuses(&self, arguments: &[&str], sentence: &str) {
        let said = self.refusal(arguments);
        assert_eq!(said, format!("losscause: {sentence}"));
    }

    /// Runs the program, which must refuse, and gives its sentence.
    fn refusal(&self, arguments: &[&str]) -> String {
        let before = self.files();
        let output = Command::new(env!("CARGO_BIN_EXE_losscause"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
        assert_eq!(self.files(), before);
        let sentence =
            stderr.strip_suffix('\n').unwrap_or_else(|| panic!("no end of line: {stderr:?}"));
        assert!(!sentence.contains('\n'), "more than one line: {stderr}");
        sentence.to_owned()
    }
}

#[test]
fn an_unknown_key() {
    let place = Place::new();
    place.changed("delay_ms", "dleay_ms");
    let said = place.refusal(&["simulate", "s.toml"]);
    let expected = "losscause: s.toml: link.radio.dleay_ms: the key \"dleay_ms\" is unknown (did you mean \"delay_ms\"?), expected one of name,";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn a_value_a_number_a_link_or_a_path_that_cannot_be() {
    let place = Place::new();
    let rate = "link.radio.rate_bps: is -1000000, expected a number above 0, up to 1e13";
    let setting = ["simulate", "s.toml", "--set", "link.radio.rate_bps=-1e6"];
    place.refuses(&setting, &format!("s.toml: {rate}"));
    let unknown = "the link \"rodeo\" is unknown, expected \"radio\"";
    for (from, to, problem) in [
        ("1e6", "-1e6", rate),
        ("1e6", "nan", "link.radio.rate_bps: is NaN, expected a finite number"),
        ("1e6", "\"1 / 0\"", "link.radio.rate_bps: \"1 / 0\" is inf, expected a finite number"),
        ("0.1", "1.01", "link.radio.channel.loss: is 1.01, expected a number from 0 to 1"),
        ("[\"radio\"]", "[\"rodeo\"]", &format!("flow.video.path: {unknown}")),
        ("[\"radio\"]", "[]", "flow.video.path: is empty, expected the names of one or more links"),
        (
            "[\"radio\"]",
            "[\"radio\", \"radio\"]",
            "flow.video.path: takes the link \"radio\" twice, expected no cycle",
        ),
        (
            "\"tfrc\"",
            "\"tfrc\"\nbytes = 1e6",
            "flow.video.bytes: only valid for tcp flows; remove it",
        ),
        (
            "\"tfrc\"",
            "\"tcp\"\nbytes = 0",
            "flow.video.bytes: is 0, expected a number above 0, up to 1e15",
        ),
    ] {
        place.changed(from, to);
        place.refuses(&["simulate", "s.toml"], &format!("s.toml: {problem}"));
    }
}

#[test]
fn a_unit_that_does_not_fit_is_told_with_the_expected_one() {
    let place = Place::new();
    for (setting, problem) in [
        ("rate_bps=20ms", "is a time, expected a rate, such as 20 Mb/s, or a plain number of b/s"),
        (
            "delay_ms=0.5%%",
            "\"%\" at character 5 of \"0.5%%\" is out of place, expected an operator or the end",
        ),
        (
            "rate_bps=20 Mbs",
            "\"20 Mbs\": the unit \"Mbs\" is unknown (did you mean \"Mb/s\"?), expected one as in 20 Mb/s, 600 ms, 1500 B, 0.5 %",
        ),
        ("channel.loss=5", "is 5, expected a number from 0 to 1; 5 percent are 5%"),
        ("channel.loss=NaN", "\"NaN\" is NaN, expected a finite number"),
    ] {
        let setting = format!("link.radio.{setting}");
        let (key, _) = setting.split_once('=').unwrap();
        let sentence = format!("s.toml: {key}: {problem}");
        place.refuses(&["simulate", "s.toml", "--set", &setting], &sentence);
    }
}

#[test]
fn a_scenario_and_a_sweep_are_told_apart() {
    let place = Place::new();
    place.write("sweep.toml", SWEEP);
    place.refuses(
        &["simulate", "sweep.toml"],
        "sweep.toml: is a sweep (losscause sweep runs it), expected a scenario file in TOML (losscause docs scenario)",
    );
    place.refuses(
        &["sweep", "s.toml"],
        "s.toml: is a scenario (losscause simulate runs it), expected a sweep file in TOML (losscause docs sweep)",
    );
}

#[test]
fn a_missing_empty_or_malformed_error_trace_or_a_directory() {
    let place = Place::new();
    place.changed(
        "{ kind = \"bernoulli\", loss = 0.1 }",
        "{ kind = \"trace\", file = \"errors.txt\" }",
    );
    let simulate = ["simulate", "s.toml"];
    let key = "s.toml: link.radio.channel.file";
    let expected = "expected a text file of 0 (received) and 1 (lost)";
    place.refuses(&simulate, &format!("{key}: errors.txt: there is no such file, {expected}"));
    place.write("errors.txt", b"\n");
    place.refuses(&simulate, &format!("errors.txt: is empty, {expected}"));
    place.write("errors.txt", b"0\n1\n0 x\n");
    place.refuses(
        &simulate,
        "errors.txt, line 3: \"x\" is out of place, expected 0 (received) or 1 (lost)",
    );
    place.write("errors.txt", &[0, 159, 146, 150]);
    place.refuses(&simulate, &format!("{key}: errors.txt: is not UTF-8 text, {expected}"));
    std::fs::remove_file(place.0.path().join("errors.txt")).unwrap();
    std::fs::create_dir(place.0.path().join("errors.txt")).unwrap();
    place.refuses(&simulate, &format!("{key}: errors.txt: is a directory, {expected}"));
}

#[test]
fn a_scenario_file_that_is_missing_empty_binary_or_a_directory() {
    let place = Place::new();
    let expected = "expected a scenario file in TOML (losscause docs scenario)";
    place.refuses(&["simulate", "no.toml"], &format!("no.toml: there is no such file, {expected}"));
    place.write("s.toml", b"");
    place.refuses(&["simulate", "s.toml"], &format!("s.toml: is empty, {expected}"));
    place.write("s.toml", &[0x7f, b'E', b'L', b'F', 0xff, 0xfe, 0]);
    place.refuses(&["simulate", "s.toml"], &format!("s.toml: is not UTF-8 text, {expected}"));
    std::fs::create_dir(place.0.path().join("d.toml")).unwrap();
    place.refuses(&["simulate", "d.toml"], &format!("d.toml: is a directory, {expected}"));
}

#[test]
fn a_scenario_file_that_is_no_toml() {
    let place = Place::new();
    place.changed("1e6", "fast");
    let said = place.refusal(&["simulate", "s.toml"]);
    assert!(said.starts_with("losscause: s.toml, line 6: "), "{said}");
}

#[test]
fn an_unknown_algorithm_or_protocol() {
    let place = Place::new();
    place.refuses(
        &["simulate", "s.toml", "--set", "flow.video.lda=ZigZga"],
        "s.toml: flow.video.lda: the algorithm \"ZigZga\" is unknown (did you mean \"ZigZag\"?), expected one of Biaz, \
         mBiaz, Spike, Spike-Tobe, ZigZag, ZBS, Flip Flop, Vegas buffer, Sift, always congestion, always wireless, \
         Veno, CDG tolerance, fqRTT, n-th loss, drop rate, roll-back, omniscient, labelled",
    );
    place.refuses(
        &["simulate", "s.toml", "--set", "flow.video.protocol=tfcr"],
        "s.toml: flow.video.protocol: \"tfcr\" is unknown (did you mean \"tfrc\"?), expected one of tfrc, tcp, cbr, \
         on-off, poisson, quic",
    );
}

/// Not the formula that takes it.
#[test]
fn a_parameter_that_is_no_number_is_named_itself() {
    let place = Place::new();
    place.changed(
        "duration_s = 1",
        "duration_s = 1\n[parameters]\nqueue = \"rate / 2\"\nrate = 1e6",
    );
    place.refuses(
        &["simulate", "s.toml", "--set", "rate=abc"],
        "s.toml: parameters.rate: \"abc\" is unknown, and there is no name to use here",
    );
    place.refuses(
        &["simulate", "s.toml", "--set", "rate=2 * queue"],
        "s.toml: parameters.queue: takes \"rate\", a formula, expected parameters that are numbers",
    );
}

#[test]
fn a_setting_that_names_nothing() {
    let place = Place::new();
    place.refuses(
        &["simulate", "s.toml", "--set", "N=3"],
        "--set N=3: the parameter \"N\" is unknown, expected one of title, source, duration_s, packet_bytes, \
         header_bytes, budget, send_jitter_us",
    );
    place.refuses(
        &["simulate", "s.toml", "--set", "link.rado.rate_bps=3"],
        "--set link.rado.rate_bps=3: the link \"rado\" is unknown (did you mean \"radio\"?), expected \"radio\"",
    );
    place.refuses(
        &["simulate", "s.toml", "--set", "N"],
        "--set N: there is no \"=\", expected KEY=VALUE",
    );
}

#[test]
fn a_trace_file_that_cannot_be_written() {
    let place = Place::new();
    for target in ["s.toml/t.csv", "no/such/directory/t.csv"] {
        let said = place.refusal(&["simulate", "s.toml", "--trace", target]);
        assert!(said.starts_with(&format!("losscause: {target}: cannot be written (")), "{said}");
    }
    std::fs::create_dir(place.0.path().join("d.csv")).unwrap();
    let said = place.refusal(&["simulate", "s.toml", "--trace", "d.csv"]);
    assert!(said.starts_with("losscause: d.csv: cannot be written (is a directory)"), "{said}");
}

#[test]
fn a_trace_file_of_an_unknown_kind() {
    let place = Place::new();
    place.refuses(
        &["simulate", "s.toml", "--trace", "t.xlsx"],
        "t.xlsx: has an unknown extension, expected a name that ends in .csv, .csv.gz or .parquet",
    );
    #[cfg(not(feature = "parquet"))]
    place.refuses(
        &["simulate", "s.toml", "--trace", "t.parquet"],
        "t.parquet: this program was built without `parquet`; in a checkout: cargo install --path \
         crates/losscause-cli --features parquet",
    );
}

#[test]
fn a_bad_scenario_leaves_an_old_trace_untouched() {
    let place = Place::new();
    place.write("t.csv", b"old");
    place.refusal(&["simulate", "s.toml", "--trace", "t.csv", "--set", "link.radio.rate_bps=-1"]);
    assert_eq!(std::fs::read(Path::new(place.0.path()).join("t.csv")).unwrap(), b"old");
}

#[test]
fn arguments_that_make_no_sense() {
    let place = Place::new();
    for (arguments, about) in [
        (&["simulate"] as &[&str], "SCENARIO.toml"),
        (&["simulate", "s.toml", "--sed", "3"], "--seed"),
        (&["simulate", "s.toml", "--seed", "x"], "--seed"),
        (&["simulate", "s.toml", "--format", "xml"], "json"),
        (&["simluate", "s.toml"], "simulate"),
    ] {
        let said = place.refusal(arguments);
        assert!(said.contains(about), "{arguments:?}: {said}");
    }
}

#[test]
fn a_delay_trace_that_is_missing_empty_or_out_of_order() {
    let place = Place::new();
    place.changed(
        "delay_ms = 10",
        "delay_ms = 10\ndelay_variation = { kind = \"trace\", file = \"delays.txt\" }",
    );
    let key = "s.toml: link.radio.delay_variation.file";
    let expected =
        "expected a text file with a time in seconds and a delay in milliseconds on each line";
    place.refuses(
        &["simulate", "s.toml"],
        &format!("{key}: delays.txt: there is no such file, {expected}"),
    );
    for (content, problem) in [
        ("", format!(": holds no point, {expected}")),
        (
            "0 20\nsoon 30\n",
            ", line 2: the time is \"soon\", expected a number from 0 to 1e6".to_owned(),
        ),
        (
            "0 20\n1 -30\n",
            ", line 2: the delay is \"-30\", expected a number from 0 to 1e9".to_owned(),
        ),
        (
            "0 20\n2 30\n1 40\n",
            ", line 3: the time 1 is not later than the one before it, expected rising times"
                .to_owned(),
        ),
    ] {
        place.write("delays.txt", content.as_bytes());
        place.refuses(&["simulate", "s.toml"], &format!("delays.txt{problem}"));
    }
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let place = Place::new();
    place.refuses(
        &["simulate", "s.toml", "--runs", "3", "--interval", "1"],
        "--interval 1: shows one run, expected no --runs beside it",
    );
    place.refuses(
        &["simulate", "s.toml", "--runs", "3", "--trace", "t.csv"],
        "--trace t.csv: a trace is of one run, expected no --runs beside it",
    );
    place.refuses(
        &["simulate", "s.toml", "--interval", "1", "--series", "s.toml"],
        "--series s.toml: expected a name that ends in .csv",
    );
    place.refuses(
        &["simulate", "s.toml", "--interval", "0"],
        "--interval 0: expected seconds from 0.001 to 1000000",
    );
    place.refuses(
        &["compare", "s.toml", "--lda", "ZBS"],
        "compare: there is only one variant, expected two or more, such as --lda none,Sift",
    );
    place.refuses(
        &["compare", "s.toml", "--lda", "ZBS,ZBS"],
        "compare: two variants are called \"ZBS\", expected every name once",
    );
    let unknown = place.refusal(&["compare", "s.toml", "--lda", "none,Spyke"]);
    assert!(
        unknown
            .contains("--lda Spyke: the algorithm \"Spyke\" is unknown (did you mean \"Spike\"?)"),
        "{unknown}"
    );
}

#[test]
fn captures_where_something_else_is_or_nothing_can_be() {
    let place = Place::new();
    let expected = "expected a new or empty directory, or one of an earlier --pcap";
    place.refuses(
        &["simulate", "s.toml", "--pcap", "."],
        &format!("--pcap .: holds s.toml, {expected}"),
    );
    std::fs::create_dir(place.0.path().join("mine")).unwrap();
    place.write("mine/sender.pcap", b"precious");
    place.refuses(
        &["simulate", "s.toml", "--pcap", "mine"],
        &format!("--pcap mine: holds captures of another origin, {expected}"),
    );
    assert_eq!(std::fs::read(place.0.path().join("mine/sender.pcap")).unwrap(), b"precious");
    let said = place.refusal(&["simulate", "s.toml", "--pcap", "s.toml"]);
    assert!(said.starts_with("losscause: s.toml: cannot be written (not a directory)"), "{said}");
    let said = place.refusal(&["simulate", "s.toml", "--pcap", "s.toml/below"]);
    assert!(said.starts_with("losscause: s.toml/below: cannot be written ("), "{said}");
    place.refuses(
        &["simulate", "s.toml", "--pcap", "-"],
        "--pcap -: captures are several files, expected a directory",
    );
}

#[test]
fn captures_that_make_no_sense() {
    let place = Place::new();
    let simulate = ["simulate", "s.toml", "--pcap", "captures"];
    for (options, sentence) in [
        (["--runs", "3"], "--pcap captures: captures are of one run, expected no --runs beside it"),
        (["--pcap-tick", "0"], "--pcap-tick 0: expected milliseconds from 0.001 to 1000"),
        (
            ["--pcap-snap", "79"],
            "--pcap-snap 79: expected bytes from 80, which hold all headers, to 65535",
        ),
        (
            ["--trace", "captures/drops.csv"],
            "--pcap captures: writes captures/drops.csv, too, expected another directory",
        ),
    ] {
        place.refuses(&[&simulate[..], &options].concat(), sentence);
    }
    let said = place.refusal(&[&simulate[..], &["--pcap-flow", "vidoe"]].concat());
    assert!(said.contains("--pcap-flow") && said.contains("video"), "{said}");
    let said = place.refusal(&["simulate", "s.toml", "--pcap-tick", "10"]);
    assert!(said.contains("--pcap"), "{said}");
}

#[test]
fn too_many_runs_are_refused_at_every_door() {
    let place = Place::new();
    let sentence = "--runs 4294967295: expected a whole number from 1 to 10000";
    let runs = ["--runs", "4294967295"];
    for verb in [
        &["simulate", "s.toml"][..],
        &["compare", "s.toml", "--lda", "none,Spike"],
        &["reproduce", "cen2003/table2"],
    ] {
        place.refuses(&[verb, &runs].concat(), sentence);
    }
    place.write("sweep.toml", SWEEP);
    place.refuses(&["sweep", "sweep.toml", "--runs", "4294967295"], sentence);
}

#[test]
fn a_run_that_would_fill_the_memory_is_refused_at_every_door() {
    let place = Place::new();
    place.all_changed(&[
        (
            "queue_packets = 3",
            "queue_packets = 3\nper_flow = true\nqueue = { kind = \"fq-codel\", queues = 65536 }",
        ),
        ("name = \"video\"", "name = \"video\"\ncount = 10000"),
    ]);
    place.write("sweep.toml", SWEEP);
    for verb in [
        &["simulate", "s.toml"][..],
        &["compare", "s.toml", "--lda", "none,Spike"],
        &["sweep", "sweep.toml"],
    ] {
        let found = place.refusal(verb);
        assert!(
            found.contains("s.toml: link.radio.queue: a run may need up to ")
                && found.contains("for 20000 copies of this link with 65536 sub-queues each"),
            "{found}"
        );
    }
}

#[test]
fn what_never_ends_is_refused() {
    let place = Place::new();
    place.all_changed(&[(
        "queue_packets = 3",
        "queue_packets = 3\nrate_variation = { kind = \"steps\", points = [[0, 1e6], [1e-9, 2e6]], at_end = \"repeat\" }",
    )]);
    place.refuses(
        &["simulate", "s.toml"],
        "s.toml: link.radio.rate_variation.at_end: repeats 2 points every 0.001 µs, expected at least 1 µs per point",
    );
    place.changed("\"tfrc\"", "\"tcp\"");
    place.refuses(
        &["simulate", "s.toml", "--set", "tcp.max_rto_ms=1e-6", "--set", "tcp.min_rto_ms=0"],
        "s.toml: tcp.max_rto_ms: is 0.000001, expected a number from 0.001 to 1e9",
    );
}

#[test]
fn an_option_s_value_is_refused_whether_it_would_be_used_or_not() {
    let place = Place::new();
    for verb in ["simulate", "compare", "reproduce", "sweep"] {
        let file = if verb == "reproduce" { "cen2003" } else { "s.toml" };
        let refused = |option: &str, value: &str, expected: &str| {
            place.refuses(&[verb, file, option, value], &format!("{option} {value}: {expected}"));
        };
        for value in ["0", "-1", "abc"] {
            refused("--jobs", value, "expected 1 or more threads");
            refused("--runs", value, "expected a whole number from 1 to 10000");
        }
    }
    place.refuses(
        &["simulate", "s.toml", "--format", "jsn"],
        "--format: \"jsn\" is unknown (did you mean \"json\"?), expected one of table, json",
    );
    place.refuses(
        &["list", "algos"],
        "list: \"algos\" is unknown, expected one of algorithms, protocols, scenarios, papers, experiments",
    );
}

#[test]
fn a_file_or_folder_that_looks_like_an_option_is_refused() {
    let place = Place::new();
    for verb in ["simulate", "compare", "sweep"] {
        // Nothing is written: `refusal` compares the folder.
        let said = place.refusal(&[verb, "s.toml", "--out", "-1"]);
        assert!(said.contains("--out") || said.contains("-1"), "{said}");
    }
}

#[test]
fn an_unknown_option_is_told_with_the_one_that_may_be_meant() {
    let place = Place::new();
    let expected = "expected one that `losscause simulate --help` lists";
    for (option, hint) in [
        ("--rusn", " (did you mean --runs?)"),
        ("--lda", " (did you mean --set flow.NAME.lda=Sift, or compare --lda none,Sift?)"),
        ("--variant", " (losscause compare has it)"),
        ("--rate", " (a scenario's value is set with --set rate=VALUE)"),
    ] {
        place.refuses(
            &["simulate", "s.toml", option, "x"],
            &format!("simulate has no option {option}{hint}, {expected}"),
        );
    }
    place.refuses(
        &["simulate", "s.toml", "t.toml"],
        "simulate takes no further argument t.toml, expected what `losscause simulate --help` lists",
    );
    place.refuses(
        &["compare"],
        "compare: <SCENARIO.toml> is missing (`losscause init` writes one), expected as in `losscause compare --help`",
    );
    place.refuses(
        &["simulat", "s.toml"],
        "simulat: there is no such command (did you mean simulate?), expected one that `losscause --help` lists",
    );
}

#[test]
fn an_algorithm_named_twice_or_unknown_is_refused_before_any_run() {
    let place = Place::new();
    place.refuses(
        &["compare", "s.toml", "--lda", "none,sift,Sift"],
        "compare: the variants \"sift\" and \"Sift\" set the same, expected variants that differ",
    );
    let said = place.refusal(&["compare", "s.toml", "--lda", "Sfit"]);
    let expected =
        "losscause: --lda Sfit: the algorithm \"Sfit\" is unknown (did you mean \"Sift\"?)";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn a_result_is_no_scenario_and_no_folder() {
    let place = Place::new();
    let expected = "expected a scenario file in TOML (losscause docs scenario)";
    for (name, text, problem) in
        [("result.json", "{\n}", "is JSON"), ("report.html", "<!doctype html>", "is HTML or XML")]
    {
        place.write(name, text.as_bytes());
        place.refuses(&["simulate", name], &format!("{name}: {problem}, {expected}"));
    }
    place.refuses(
        &["simulate", "s.toml", "--out", "result.json"],
        "result.json: is a file, expected a directory",
    );
    place.refuses(
        &["simulate", "result.jsn"],
        &format!("result.jsn: there is no such file (did you mean \"result.json\"?), {expected}"),
    );
}

//! Patterns of packet errors as files: what is written is read again, and what is no whole pattern
//! is refused.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::fmt::Write;

use losscause_study::Jobs;
use losscause_study::scenario::fade::{self, Pattern, Source};
use proptest::prelude::*;

/// Two patterns of three trials of 60 packets of 20 bytes.
const CHANNEL: &str = include_str!("fade/two_patterns.toml");

/// Lines above the first trial of a pattern's file: two of comment, the fingerprint, 22 parameters,
/// an empty one.
const HEAD_LINES: usize = 27;

fn sources() -> Vec<Source> {
    fade::parse(CHANNEL, "tiny.toml", &[]).unwrap()
}

/// A pattern of three trials; the second has bursts at both of its ends.
fn pattern() -> Pattern {
    let channel = sources().remove(0).channel;
    let trial = |lost: &[(usize, u32)]| {
        let mut trial = vec![0; 60];
        lost.iter().for_each(|&(packet, wrong)| trial[packet] = wrong);
        trial
    };
    Pattern {
        channel,
        trials: vec![trial(&[(12, 3), (13, 1)]), trial(&[(0, 9), (58, 160), (59, 1)]), trial(&[])],
    }
}

fn refusal(text: &str) -> String {
    Pattern::parse(text, "p.txt").unwrap_err().to_string()
}

#[test]
fn trials_are_written_as_runs_of_received_and_lost_packets() {
    let text = pattern().to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[HEAD_LINES - 1], "");
    assert_eq!(lines[HEAD_LINES..], ["12 x3 x1 46", "x9 57 x160 x1", "60"]);
}

#[test]
fn a_file_from_another_system_reads_the_same() {
    let text = pattern().to_text().replace('\n', "\r\n");
    assert_eq!(Pattern::parse(&text, "p.txt"), Ok(pattern()));
}

#[test]
fn a_pattern_cut_off_anywhere_is_refused() {
    let text = pattern().to_text();
    for end in 0..text.len() {
        let said = refusal(&text[..end]);
        assert!(said.starts_with("p.txt"), "{end}: {said}");
    }
}

#[test]
fn each_way_to_be_no_pattern_is_named_with_its_line() {
    let text = pattern().to_text();
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        refusal(&text.replacen(from, to, 1))
    };
    let line = |number: usize| format!("p.txt, line {}: ", HEAD_LINES + number);
    let packets = "expected a number of packets, or x and a number of bits";
    let last = "x9 57 x160 x1\n60\n";
    for (from, to, number, problem) in [
        ("x9 57", "x9 56", 2, "there are 59 packets, expected 60".to_owned()),
        (
            "x9 57",
            "x9 58",
            2,
            "there are more than 60 packets, the number that a trial has".to_owned(),
        ),
        ("x9 57", "x9 4294967296", 2, format!("\"4294967296\" is out of place, {packets}")),
        ("x9 57", "y9 57", 2, format!("\"y9\" is out of place, {packets}")),
        ("x9 57", "x0 57", 2, format!("\"x0\" is out of place, {packets}")),
        ("x9 57", "x9 -57", 2, format!("\"-57\" is out of place, {packets}")),
        ("x9 57", "x9 5\u{1b}7", 2, format!("\"5\\u{{1b}}7\" is out of place, {packets}")),
        (last, "x9 57 x160 x1\n", 3, "the pattern ends here, expected 3 trials".to_owned()),
        (
            last,
            "x9 57 x160 x1\n60\n60\n",
            4,
            "the pattern goes on, expected its end after 3 trials".to_owned(),
        ),
        // Still 60 packets: without the last digit of x12, say, nothing else would tell.
        (
            last,
            "x9 57 x160 x1\n59 x1",
            3,
            "the line has no end, expected the complete pattern".to_owned(),
        ),
    ] {
        assert_eq!(with(from, to), format!("{}{problem}", line(number)), "{to:?}");
    }
}

#[test]
fn hand_changed_parameters_are_refused_at_the_fingerprint() {
    let text = pattern().to_text();
    let mut changed = pattern().channel;
    changed.users = 6;
    let expected = format!(
        "p.txt, line 3: the fingerprint is not that of the parameters below, so the pattern was made with others, expected \
         \"{}\"",
        changed.fingerprint()
    );
    assert_eq!(refusal(&text.replace("users = 5", "users = 6")), expected);
    let own = format!("fingerprint = \"{}\"", pattern().channel.fingerprint());
    let said = refusal(&text.replace(&own, "fingerprint = 7"));
    assert!(said.starts_with("p.txt, line 3: the fingerprint is not"), "{said}");
}

#[test]
fn parameters_beyond_reason_are_refused_despite_a_fingerprint() {
    for (change, key) in [
        (
            &(|p: &mut Pattern| p.channel.trials = 0) as &dyn Fn(&mut Pattern),
            "trials: is 0, expected 1 to 100000",
        ),
        (&|p| p.channel.trial_s = 0.0, "trial_s: is 0 s, expected time for a block of packets"),
        (
            &|p| p.channel.trial_s = f64::NAN,
            "trial_s: is 0 s, expected time for a block of packets",
        ),
        (
            &|p| (p.channel.rate_bps, p.channel.trial_s) = (1_000_000_000_000, 86_400.0),
            "trials: makes 1590184049079750 packets, expected at most 10000000",
        ),
        (
            &|p| (p.channel.packet_bytes, p.channel.interleaver_packets) = (65_535, 64),
            "interleaver_packets: makes a block of 67108224 coded bits, expected at most 1048576",
        ),
    ] {
        let mut pattern = pattern();
        change(&mut pattern);
        assert_eq!(refusal(&pattern.to_text()), format!("p.txt: {key}"));
    }
}

#[test]
fn a_file_of_a_few_lines_cannot_ask_for_many_channels() {
    let mut text = CHANNEL.to_owned();
    for number in 0..99 {
        write!(text, "[[pattern]]\nname = \"p{number}\"\nspreading_gain = 8\n").unwrap();
    }
    assert_eq!(
        fade::parse(&text, "c.toml", &[]).unwrap_err().to_string(),
        "c.toml: pattern: has 101 entries where at most 100 are allowed, expected a [[pattern]] with a name for each pattern"
    );
}

#[test]
fn threads_change_no_pattern_and_progress_counts_every_trial() {
    let make = |jobs| {
        let mut last = 0;
        let patterns = fade::make(&sources(), Jobs::new(jobs).unwrap(), |done| last = done);
        assert_eq!(last, 6);
        patterns
    };
    let one = make(1);
    let two = make(2);
    assert_eq!(one, two);
    assert!(
        one.iter()
            .all(|pattern| pattern.trials.len() == 3 && pattern.trials[0] != pattern.trials[1])
    );
    assert!(one[0].statistics().lost > one[1].statistics().lost, "half the chips, more losses");
    assert_eq!(one[1].to_text(), include_str!("fade/whole.txt"));
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        trials in prop::collection::vec(prop::collection::vec(prop_oneof![3 => Just(0), 1 => 1..=160_u32], 60), 3),
        seed: u32,
        loss_db in -100.0..100.0_f64,
    ) {
        let mut pattern = Pattern { trials, ..pattern() };
        (pattern.channel.seed, pattern.channel.implementation_loss_db) = (seed, loss_db);
        prop_assert_eq!(Pattern::parse(&pattern.to_text(), "p.txt"), Ok(pattern));
    }
}

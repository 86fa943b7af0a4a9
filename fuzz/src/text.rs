//! The readers of text: scenarios, their formulas, settings and traces, sweeps, channels and
//! patterns of packet errors.

use std::path::Path;
use std::sync::LazyLock;

use losscause::{Span, Time};
use losscause_laboratory::sweep::Sweep;
use losscause_study::scenario::error_trace;
use losscause_study::scenario::expression::{Formula, Names};
use losscause_study::scenario::fade::{self, Pattern};
use losscause_study::{Context, InputError, Scenario, Setting};

/// What the files are called.
const FILE: &str = "any.toml";

/// Files are UTF-8; what is not is refused before any of these readers sees it.
fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// One line, which begins with one of `names`.
fn is_plain(error: &InputError, names: &[&str]) {
    let message = error.to_string();
    let control = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    assert!(!message.contains(control), "not one plain line: {message:?}");
    assert!(names.iter().any(|name| message.starts_with(name)), "names no file: {message}");
}

/// A scenario is refused with one plain line, or its network is valid and no larger than the
/// simulator takes.
pub fn scenario(data: &[u8]) {
    let Some(text) = text(data) else { return };
    // A trace file of any name may be named, and then it is the one that is wrong.
    if text.contains("/dev") || text.contains("/proc") {
        return;
    }
    match Scenario::parse(text, FILE, &Context::default()) {
        Ok(scenario) => experiment(&scenario, text.contains("trace")),
        Err(error) => is_plain(&error, &[FILE]),
    }
}

fn experiment(scenario: &Scenario, traces: bool) {
    match scenario.experiment() {
        Ok(experiment) => {
            assert_eq!(experiment.network.validate(), Ok(()));
            let (from, to) = experiment.window;
            assert!(Time::ZERO <= from && from < to && to <= experiment.duration);
        }
        Err(error) => is_plain(&error, if traces { &[""] } else { &[FILE] }),
    }
}

/// A formula is refused, or its value is a finite number.
pub fn expression(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Ok(formula) = Formula::parse(text) else { return };
    let names = Names::default().with("N", 4.0).with("rate_bps", 520e3).with("zero", 0.0);
    if let Ok(value) = formula.evaluate(&names) {
        assert!(value.is_finite());
    }
    assert_eq!(formula, formula.clone());
}

/// The scenario that settings are applied to.
static BASE: LazyLock<Scenario> = LazyLock::new(|| {
    let text = include_str!("../../scenarios/last-hop-video.toml");
    Scenario::parse(text, FILE, &Context::default()).expect("the shipped scenario is valid")
});

/// Settings, one a line, are refused with one plain line, or the scenario with them is as good as
/// any.
pub fn setting(data: &[u8]) {
    let Some(text) = text(data) else { return };
    if text.contains("/dev") || text.contains("/proc") {
        return;
    }
    // Halves are apart by a form feed, so that a setting may hold line ends.
    let settings: Result<Vec<Setting>, InputError> =
        text.split('\u{c}').map(Setting::parse).collect();
    match settings.and_then(|settings| BASE.with(&settings)) {
        Ok(scenario) => experiment(&scenario, text.contains("trace")),
        Err(error) => is_plain(&error, &[FILE, "--set "]),
    }
}

/// An error trace is refused with one plain line, or it has one slot for each 0 or 1.
pub fn trace(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match error_trace(text, FILE) {
        Ok(lost) => {
            let slots = text.bytes().filter(|b| matches!(b, b'0' | b'1')).count();
            let ones = text.bytes().filter(|b| *b == b'1').count();
            assert_eq!((lost.len(), lost.iter().filter(|lost| **lost).count()), (slots, ones));
        }
        Err(error) => is_plain(&error, &[FILE]),
    }
}

/// A delay trace is refused with one plain line, or its times rise and nothing in it is negative.
pub fn delay_trace(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match losscause_study::scenario::delay_trace(text, FILE) {
        Ok(points) => {
            assert!(!points.is_empty() && points.len() <= text.lines().count());
            assert!(points.windows(2).all(|pair| pair[0].at < pair[1].at));
            assert!(points.iter().all(|point| point.at >= Span::ZERO && point.delay >= Span::ZERO));
        }
        Err(error) => is_plain(&error, &[FILE]),
    }
}

/// The text is refused with one plain line, or is a rate's steps with rising times; and the same
/// for delivery opportunities.
pub fn rate_trace(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match losscause_study::scenario::rate_trace(text, FILE) {
        Ok(points) => {
            assert!(!points.is_empty() && points.len() <= text.lines().count());
            assert!(points.windows(2).all(|pair| pair[0].at < pair[1].at));
        }
        Err(error) => is_plain(&error, &[FILE]),
    }
    match losscause_study::scenario::mahimahi_trace(text, FILE) {
        Ok(at) => {
            assert!(
                at.len() <= text.lines().count()
                    && at.last().is_some_and(|&last| last > Span::ZERO)
            );
            assert!(at.windows(2).all(|pair| pair[0] <= pair[1]));
        }
        Err(error) => is_plain(&error, &[FILE]),
    }
}

/// A channel file is refused with one plain line, or each of its patterns has a name of its own and
/// packets in its trials.
pub fn channel(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match fade::parse(text, FILE, &[]) {
        Ok(sources) => {
            assert!(!sources.is_empty() && fade::trials(&sources) >= sources.len());
            for (index, source) in sources.iter().enumerate() {
                assert!(source.uplink.packets_per_trial() > 0);
                assert!(sources[..index].iter().all(|other| other.name != source.name));
            }
        }
        Err(error) => is_plain(&error, &[FILE]),
    }
}

/// The lines above the trials, which a fuzzer does not find: it would have to guess a fingerprint.
static HEAD: LazyLock<&str> = LazyLock::new(|| {
    let text = include_str!("../corpus/pattern/whole");
    text.split_once("\n\n").expect("an empty line parts the head from the trials").0
});

/// A pattern, whole or only its trials, is refused with one plain line, or is the same after
/// writing and reading it.
pub fn pattern(data: &[u8]) {
    let Some(text) = text(data) else { return };
    for text in [text.to_owned(), format!("{}\n\n{text}", *HEAD)] {
        match Pattern::parse(&text, FILE) {
            Ok(pattern) => {
                assert_eq!(pattern.trials.len(), pattern.channel.trials as usize);
                assert_eq!(Pattern::parse(&pattern.to_text(), FILE).as_ref(), Ok(&pattern));
                assert_eq!(pattern.lost().len(), pattern.statistics().packets);
            }
            Err(error) => is_plain(&error, &[FILE]),
        }
    }
}

/// A sweep is refused with one plain line, or it has cells that can be checked.
pub fn sweep(data: &[u8]) {
    let Some(text) = text(data) else { return };
    if text.contains("/dev") || text.contains("/proc") {
        return;
    }
    match Sweep::parse(text, Path::new(FILE), &Context::default()) {
        Ok(sweep) => {
            // There may be a million.
            let last = sweep.count() - 1;
            for cell in [sweep.cells_in(0..1), sweep.cells_in(last..last + 1)].concat() {
                // The message is about a setting, a paper's scenario or a file that cannot be used.
                if let Err(error) = sweep.check(&cell) {
                    is_plain(&error, &[""]);
                }
            }
        }
        // The sweep file, its scenario, or an unknown paper or item.
        Err(error) => is_plain(&error, &[""]),
    }
}

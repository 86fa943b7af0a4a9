//! Checks of `simulate`'s arguments against each other, before anything is written.

use std::path::PathBuf;

use losscause::Span;
use losscause_study::files::Inputs;
use losscause_study::{InputError, Limits};

use super::{Arguments, folder};
use crate::output::Format;

/// The length of an interval of the time series, if there is one.
pub(super) fn interval(arguments: &Arguments) -> Result<Option<Span>, InputError> {
    let Some(seconds) = arguments.interval else { return Ok(None) };
    let span = Limits::interval(seconds)
        .map_err(|expected| InputError::option(format!("--interval {seconds}"), expected))?;
    if arguments.runs > 1 {
        return Err(InputError::option(
            format!("--interval {seconds}"),
            "shows one run, expected no --runs beside it",
        ));
    }
    match &arguments.series {
        Some(file) if file.extension().is_none_or(|end| end != "csv") => Err(InputError::option(
            format!("--series {}", file.display()),
            "expected a name that ends in .csv",
        )),
        _ => Ok(Some(span)),
    }
}

/// Refuses what shows one run beside several runs.
pub(super) fn may_repeat(arguments: &Arguments) -> Result<(), InputError> {
    if let Some(file) = &arguments.trace {
        let problem = "a trace is of one run, expected no --runs beside it";
        return Err(InputError::option(format!("--trace {}", file.display()), problem));
    }
    if let Some(directory) = arguments.captures.directory() {
        let problem = "captures are of one run, expected no --runs beside it";
        return Err(InputError::option(format!("--pcap {}", directory.display()), problem));
    }
    Ok(())
}

/// Refuses what shows the packets of a run, which QUIC's runs do not give.
pub(super) fn is_quic(arguments: &Arguments) -> Result<(), InputError> {
    let asked = [
        ("--trace", arguments.trace.is_some()),
        ("--pcap", arguments.captures.directory().is_some()),
        ("--interval", arguments.interval.is_some()),
        ("--out", arguments.out.is_some()),
    ];
    match asked.into_iter().find(|(_, is_asked)| *is_asked) {
        Some((option, _)) => Err(InputError::option(
            option.to_owned(),
            "shows a run of the simulator, expected no QUIC flows beside it",
        )),
        None => Ok(()),
    }
}

/// Refuses to overwrite an input, or one output with the other, or to mix two on standard output.
pub(super) fn outputs(arguments: &Arguments, inputs: &Inputs) -> Result<(), InputError> {
    keep_inputs(arguments, inputs)?;
    keep_captures(arguments)?;
    if arguments.prints_trace() && arguments.format == Format::Json {
        let problem =
            "standard output gets the trace, expected no --format json beside it, or a file";
        return Err(InputError::option("--trace -".to_owned(), problem));
    }
    match &arguments.series {
        Some(series) if arguments.trace.as_ref() == Some(series) => Err(InputError::option(
            format!("--series {}", series.display()),
            "is also the file of --trace, expected another",
        )),
        _ => Ok(()),
    }
}

/// Refuses outputs that are inputs.
fn keep_inputs(arguments: &Arguments, inputs: &Inputs) -> Result<(), InputError> {
    let files = [&arguments.trace, &arguments.series].into_iter().flatten().cloned();
    let in_folder =
        arguments.out.iter().flat_map(|directory| folder::FILES.map(|name| directory.join(name)));
    files
        .chain(in_folder)
        .chain(arguments.captures.files())
        .try_for_each(|file| inputs.keep_from(&file))
}

/// Refuses a trace or time series in the place of a capture, or captures in the folder of results.
fn keep_captures(arguments: &Arguments) -> Result<(), InputError> {
    if let (Some(out), Some(captures)) = (arguments.out.as_deref(), arguments.captures.directory())
        && out == captures
    {
        let problem = "is also the folder of --out, expected another directory";
        return Err(InputError::option(format!("--pcap {}", out.display()), problem));
    }
    let is_taken = |capture: &PathBuf| {
        [&arguments.trace, &arguments.series].into_iter().flatten().any(|file| file == capture)
    };
    match arguments.captures.files().find(is_taken) {
        Some(capture) => {
            let directory = capture.parent().unwrap_or(&capture);
            let problem = format!("writes {}, too, expected another directory", capture.display());
            Err(InputError::option(format!("--pcap {}", directory.display()), problem))
        }
        None => Ok(()),
    }
}

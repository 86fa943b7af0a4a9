//! `losscause analyze`: why a capture lost its packets.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use losscause::registry::Registry;
use losscause_capture::judge::Chosen;
use losscause_capture::{Captures, Options, Selection};
use losscause_report as report;
use losscause_study::files::Inputs;
use losscause_study::origin::options as options_of;
use losscause_study::tools::atomic;
use losscause_study::{InputError, Origin};

use crate::failure::Failure;
use crate::input;
use crate::output::{self, Format};

mod captures;
mod joined;
mod losses;
mod observations;
mod rewritten;
mod scenario;
mod tables;

use observations::Observations;

/// Below the options in the help.
const COLUMNS: &str = "Columns of the table:
  flow        the number; in brackets: too few packets to count
  seen at     the end near which the capture was made
  losses, %   lost data packets, and their share
  again       packets sent a second time, needed or not
  cause       why, and how sure that is: clear, likely; of how many losses, if not of all
  one by one  what the algorithm for this capture calls each loss, where that adds to the cause
  –           the capture does not show it";

#[derive(Debug, clap::Args)]
#[command(after_help = COLUMNS)]
pub(crate) struct Arguments {
    /// pcap or pcapng files, or qlog of QUIC, also compressed with gzip, xz or zstd; - for standard
    /// input.
    #[arg(required_unless_present_any = ["sender", "receiver", "interface"], value_name = "CAPTURE")]
    captures: Vec<PathBuf>,
    /// Capture headers on this interface with tcpdump and analyse them meanwhile: a line a second,
    /// and the answer at q or Ctrl-C.
    #[arg(long, short, value_name = "INTERFACE", conflicts_with_all = ["captures", "sender", "receiver"])]
    interface: Option<String>,
    /// The captures are parts of one, such as the files of a ring buffer: flows go on from one to
    /// the next.
    #[arg(long, conflicts_with_all = ["sender", "receiver", "interface"])]
    as_one: bool,
    /// The capture at the sender of the data, joined with that of --receiver: then losses are
    /// known, not inferred.
    #[arg(long, value_name = "CAPTURE", requires = "receiver", conflicts_with = "captures")]
    sender: Option<PathBuf>,
    /// The capture at the receiver of the data, joined with that of --sender.
    #[arg(long, value_name = "CAPTURE", requires = "sender", conflicts_with = "captures")]
    receiver: Option<PathBuf>,
    /// Ask only these algorithms, by the names that `losscause list algorithms` prints.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    lda: Vec<String>,
    /// Show only flows one of whose ends contains this text, such as 10.0.0.1:443; several are
    /// alternatives.
    #[arg(long, value_name = "ADDRESS")]
    flow: Vec<String>,
    /// Show only flows of this address; several are alternatives.
    #[arg(long, value_name = "ADDRESS")]
    host: Vec<IpAddr>,
    /// Show only flows of this TCP or UDP port; several are alternatives.
    #[arg(long, value_name = "PORT")]
    port: Vec<u16>,
    /// Analyse only packets from this time on, seconds after the first packet.
    #[arg(long, value_name = "SECONDS")]
    from: Option<f64>,
    /// Analyse only packets before this time, seconds after the first packet.
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,
    /// Do not remove the skew between the clocks of the sender and of the capture.
    #[arg(long)]
    keep_skew: bool,
    /// Write every loss with every verdict to this file: .csv, .csv.gz, or .parquet if the program
    /// has that feature.
    #[arg(long, value_name = "FILE")]
    losses: Option<PathBuf>,
    /// Write every observation that the algorithms get to this file, while the capture is read:
    /// .csv, .csv.gz, or .parquet if the program has that feature.
    #[arg(long, value_name = "FILE")]
    observations: Option<PathBuf>,
    /// Write a report to this file: the answer, how far to trust it, and every loss over time.
    /// HTML, to open in a browser.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the capture to this file once more, as pcapng, with a comment on every packet that was
    /// lost, sent again or captured twice. Wireshark shows them.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sender", "receiver"])]
    annotate: Option<PathBuf>,
    /// Write the headers of its packets to this file, as pcapng, with other addresses and ports and
    /// without payload: to show to others.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sender", "receiver"])]
    share: Option<PathBuf>,
    /// Write a scenario of the link that the largest TCP flow met to this file, for simulate and
    /// compare: rate, round trip, queue and random loss. The capture must be one at the sender;
    /// --flow chooses another flow.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sender", "receiver"])]
    scenario: Option<PathBuf>,
    /// Show every algorithm and every loss.
    #[arg(long, short)]
    verbose: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Analyses every capture and prints what was found. A capture that cannot be used does not keep
/// the others from being analysed.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let mut options = options(arguments, registry)?;
    keep_apart(arguments)?;
    let observations = arguments.observations.as_deref().map(Observations::create).transpose()?;
    options.observer = observations.as_ref().map(Observations::observer);
    let (analyses, failure) = match (&arguments.sender, &arguments.receiver) {
        (Some(sender), Some(receiver)) => joined::analyze(sender, receiver, &options)?,
        _ => {
            let interface = arguments.interface.as_deref();
            captures::analyses(&arguments.captures, arguments.as_one, interface, &options)
        }
    };
    options.observer = None;
    if analyses.is_empty() {
        // Nothing is told, and so nothing is written.
        return failure.map_or(Ok(()), Err);
    }
    // All are of this analysis: they get their names together.
    let mut files = Vec::new();
    if let Some(observations) = observations {
        files.extend(observations.whole()?);
    }
    if let ([capture], [analysis]) = (&arguments.captures[..], &analyses[..]) {
        if let Some(out) = &arguments.annotate {
            files.push(rewritten::annotate(capture, analysis, out)?);
        }
        if let Some(out) = &arguments.share {
            files.push(rewritten::share(capture, analysis, &options, out)?);
        }
    }
    if let Some(file) = &arguments.losses {
        files.extend(losses::whole(file, &analyses)?);
    }
    if let Some(file) = &arguments.report {
        files.push(atomic::whole(file, report::capture_html(&analyses).as_bytes())?);
    }
    if let Err(error) = atomic::finish_new_together(files) {
        // Another process may have written one of that name meanwhile.
        keep_apart(arguments)?;
        return Err(error.into());
    }
    match arguments.format {
        Format::Json => {
            let origin = origin(arguments);
            Captures { origin, captures: &analyses }.write_json(&mut output::JsonOutput::new())?;
        }
        Format::Table => {
            let joined = [arguments.sender.as_deref(), arguments.receiver.as_deref()];
            let scenario = arguments.scenario.as_deref();
            let mut files = tables::NewFiles::default();
            for analysis in &analyses {
                tables::print(analysis, joined, scenario, &mut files, arguments.verbose)?;
            }
        }
    }
    if let (Some(file), [analysis]) = (&arguments.scenario, &analyses[..]) {
        let told = scenario::write(file, analysis)?;
        if arguments.format == Format::Table {
            told.iter().try_for_each(|line| output::line(line))?;
        }
    }
    failure.map_or(Ok(()), Err)
}

/// The command that gives the analyses.
fn origin(arguments: &Arguments) -> Origin {
    let flags = [("--as-one", arguments.as_one), ("--keep-skew", arguments.keep_skew)];
    let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned());
    let files =
        |files: &[PathBuf]| files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
    let lda = arguments.lda.join(",");
    let words = ["analyze".to_owned()].into_iter().chain(files(&arguments.captures));
    let words = words
        .chain(options_of("--interface", &arguments.interface))
        .chain(options_of("--sender", files(arguments.sender.as_slice())))
        .chain(options_of("--receiver", files(arguments.receiver.as_slice())))
        .chain(options_of("--lda", Some(lda).filter(|lda| !lda.is_empty())))
        .chain(options_of("--flow", &arguments.flow))
        .chain(options_of("--host", &arguments.host))
        .chain(options_of("--port", &arguments.port))
        .chain(options_of("--from", arguments.from))
        .chain(options_of("--to", arguments.to))
        .chain(flags);
    Origin::of(words, None)
}

/// Refuses to write over a file, a capture or not, or one output over another.
fn keep_apart(arguments: &Arguments) -> Result<(), InputError> {
    let captures = arguments.captures.iter().chain(&arguments.sender).chain(&arguments.receiver);
    let inputs = Inputs::of(captures.filter(|file| !input::is_standard(file)).cloned());
    let outputs = [
        ("--losses", &arguments.losses),
        ("--observations", &arguments.observations),
        ("--report", &arguments.report),
        ("--annotate", &arguments.annotate),
        ("--share", &arguments.share),
        ("--scenario", &arguments.scenario),
    ];
    if let Some(file) = arguments.scenario.as_ref().filter(|_| arguments.captures.len() > 1) {
        let option = format!("--scenario {}", file.display());
        return Err(InputError::option(option, "a scenario is of one link, expected one capture"));
    }
    let mut before: Vec<(&str, &Path)> = Vec::new();
    for (option, file) in
        outputs.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?)))
    {
        inputs.keep_from(file)?;
        if input::is_standard(file) {
            let problem = "standard output has the answer, expected a file";
            return Err(InputError::option(format!("{option} -"), problem));
        }
        // It may have been changed since, or be of another capture.
        if file.is_file() {
            let option = format!("{option} {}", file.display());
            return Err(InputError::option(option, "the file exists, expected a new one"));
        }
        if let Some((other, _)) = before.iter().find(|(_, taken)| *taken == file) {
            let problem = format!("is also the file of {other}, expected another");
            return Err(InputError::option(format!("{option} {}", file.display()), problem));
        }
        if ["--annotate", "--share"].contains(&option) {
            rewritten::check(option, file, &arguments.captures)?;
        }
        before.push((option, file));
    }
    Ok(())
}

fn options(arguments: &Arguments, registry: &Registry) -> Result<Options, InputError> {
    let chosen = if arguments.lda.is_empty() {
        Chosen::all_of(registry)
    } else {
        Chosen::named(&arguments.lda, registry).map_err(|error| {
            InputError::option(format!("--lda {}", arguments.lda.join(",")), error.to_string())
        })?
    };
    for (name, second) in [("--from", arguments.from), ("--to", arguments.to)] {
        if let Some(second) = second.filter(|second| !(0.0..1e9).contains(second)) {
            return Err(InputError::option(
                format!("{name} {second}"),
                "expected seconds, not negative",
            ));
        }
    }
    if let (Some(from), Some(to)) = (arguments.from, arguments.to)
        && from >= to
    {
        return Err(InputError::option(
            format!("--to {to}"),
            format!("ends before --from {from}, expected a later time"),
        ));
    }
    let mut options = Options::all();
    options.chosen = chosen;
    options.keep_skew = arguments.keep_skew;
    (options.from_s, options.to_s) = (arguments.from, arguments.to);
    let texts = arguments.flow.clone();
    let hosts = arguments.host.clone();
    let ports = arguments.port.clone();
    options.flows = Selection { texts, hosts, ports };
    options.over_time = arguments.report.is_some();
    options.notes = arguments.annotate.is_some();
    Ok(options)
}

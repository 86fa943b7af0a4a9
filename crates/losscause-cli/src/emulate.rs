//! `losscause emulate`: a command over the link of a scenario, in real time.

use std::ffi::OsString;
use std::path::PathBuf;

use losscause_linux::emulator::{Output, Path, Setup, Summary, emulate};
use losscause_sim::{FlowId, Network};
use losscause_study::Registry;
use losscause_study::error::unknown;
use losscause_study::files::Inputs;
use losscause_study::origin::{options, quoted};
use losscause_study::{InputError, Origin, Setting};

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::{input, interrupt, notice};

mod files;
mod table;

use files::Files;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A scenario file, - for standard input, or a paper's scenario such as cen2003/WLH. Only the
    /// links on the path of one flow are used. `losscause docs emulate` explains more.
    #[arg(value_name = "LINK.toml")]
    link: PathBuf,
    /// A command at the far end, such as a server; a shell runs it, and it is ended when COMMAND
    /// ends.
    #[arg(long, value_name = "COMMAND")]
    peer: Option<OsString>,
    /// Write captures to this directory, which must be new or empty: sender.pcap, receiver.pcap,
    /// and the true cause of every drop in drops.csv.
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Write every drop with its true cause to this file.
    #[arg(long, value_name = "FILE.csv")]
    log: Option<PathBuf>,
    /// Take the path of this flow [default: the first]
    #[arg(long, value_name = "NAME")]
    flow: Option<String>,
    /// Random seed of queues and channels.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Change a parameter (N=4) or a key by its dotted path (link.air.rate_bps=1e6).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Output format; with json, COMMAND's standard output goes to standard error.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The command, and its arguments; $LOSSCAUSE_PEER is the address of the far end, 10.77.0.2.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the command and prints what the link did.
pub(crate) fn run(arguments: Arguments, registry: &Registry) -> Result<(), Failure> {
    let settings: Vec<Setting> =
        arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
    let (scenario, sources) = input::scenario(&arguments.link, &settings, registry)?;
    let network = scenario.experiment()?.network;
    let flow = flow(arguments.flow.as_deref(), &network)?;
    keep_apart(&arguments, &sources.inputs())?;
    let path = Path::new(&network, flow, arguments.seed)?;
    let others = network.flows.len() - 1;
    if others > 0 {
        let name = &network.flows[flow.0 as usize].name;
        notice::print(&format!(
            "{}: the path is that of {name}; the traffic of {name} and of {others} other flows is not emulated",
            arguments.link.display()
        ));
    }
    let origin = origin(&arguments);
    let files = Files::create(arguments.pcap.as_deref(), arguments.log.as_deref())?;
    let output = if arguments.format == Format::Json { Output::Error } else { Output::Standard };
    let setup = Setup {
        path,
        command: arguments.command,
        output,
        peer: arguments.peer,
        outputs: files.outputs(),
    };
    let summary = emulate(setup, interrupt::postpone())?;
    files.finish()?;
    match arguments.format {
        Format::Json => output::json(&Document { format_version: 1, origin, summary: &summary })?,
        Format::Table => notice::print(&table::summary(&summary)),
    }
    interrupt::end_if_interrupted();
    summary.check()?;
    match summary.exit_status {
        0 => Ok(()),
        status => Err(Failure::Command(status)),
    }
}

/// The JSON of a summary.
#[derive(serde::Serialize)]
struct Document<'a> {
    /// It grows when a field is removed or changes its meaning.
    format_version: u32,
    origin: Origin,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// The command that gives the summary.
fn origin(arguments: &Arguments) -> Origin {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let words = ["emulate".to_owned(), arguments.link.display().to_string()].into_iter();
    let words = words
        .chain(options("--flow", &arguments.flow))
        .chain(options("--set", &arguments.set))
        .chain(options("--peer", arguments.peer.as_ref().map(text)));
    let mut origin = Origin::of(words, arguments.seed);
    origin.command += " --";
    arguments
        .command
        .iter()
        .for_each(|word| origin.command += &format!(" {}", quoted(&text(word))));
    origin
}

/// The flow of this name, or the first; the name of a group stands for its first member.
fn flow(name: Option<&str>, network: &Network) -> Result<FlowId, InputError> {
    let Some(name) = name else { return Ok(FlowId(0)) };
    let first = format!("{name}.1");
    match network.flows.iter().position(|flow| flow.name == name || flow.name == first) {
        Some(place) => Ok(FlowId(place as u32)),
        None => {
            let known: Vec<&str> = network.flows.iter().map(|flow| flow.name.as_str()).collect();
            Err(InputError::option("--flow", unknown(name, &known)))
        }
    }
}

/// Refuses to overwrite an input, or one output with another, or to mix two on standard output.
fn keep_apart(arguments: &Arguments, inputs: &Inputs) -> Result<(), InputError> {
    let captures: Vec<PathBuf> = files::in_directory(arguments.pcap.as_deref()).collect();
    captures.iter().chain(&arguments.log).try_for_each(|file| inputs.keep_from(file))?;
    for (option, file) in [("--pcap", &arguments.pcap), ("--log", &arguments.log)] {
        if file.as_deref().is_some_and(input::is_standard) {
            let problem = "standard output is the command's, expected a file";
            return Err(InputError::option(format!("{option} -"), problem));
        }
    }
    match &arguments.log {
        Some(log) if captures.contains(log) => {
            let problem = "is also a file of --pcap, expected another";
            Err(InputError::option(format!("--log {}", log.display()), problem))
        }
        _ => Ok(()),
    }
}

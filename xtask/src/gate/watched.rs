//! `cargo xtask watched`: what `losscause watch` says of transfers whose true cause is known, beside
//! what `analyze` says of their captures.
//!
//! The transfers are the gate's: the kernel's TCP over links that seeds draw, with CUBIC, Reno and
//! BBR in turn. One watch sees all of them. Its last word on each connection is held against the
//! link's log.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use losscause_capture::{Options as Analyzing, analyze};
use losscause_experiments::abroad::diagnosed::CauseClass;
use losscause_linux::emulator::Path as EmulatedPath;
use losscause_sim::FlowId;
use losscause_sim::truth::Cause;
use losscause_study::Scenario;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Deserialize;

use super::kind::{Drawn, Kind};
use super::label::CAPTURE;
use crate::linux::side_by_side;
use crate::linux::transfer::{self, Transfer};
use crate::shell;

/// What to make.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// So many transfers: kinds of links and congestion controls take turns.
    #[arg(long, default_value_t = 30, value_name = "N")]
    transfers: u64,
    /// The seed of the first; each round of seven kinds has the next one.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Transfers at a time.
    #[arg(long, default_value_t = 3, value_name = "N")]
    jobs: usize,
    /// Leave the captures and logs in this folder.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// End with an error if `watch` names a wrong cause more often than `analyze`, or a right one
    /// more seldom by more than this many.
    #[arg(long, value_name = "N")]
    within: Option<usize>,
}

const CONTROLS: [&str; 3] = ["cubic", "reno", "bbr"];
/// A connection that has ended is reported within so long.
const SETTLES: Duration = Duration::from_secs(4);

/// What was said, by name.
#[derive(Clone, Debug, Deserialize)]
struct Said {
    cause: String,
    certainty: String,
}

/// What the watch says of a connection.
#[derive(Clone, Debug, Deserialize)]
struct Report {
    socket: u64,
    local: std::net::SocketAddr,
    watched_s: f64,
    acked_bytes: u64,
    lost_pkts: u64,
    diagnosis: Option<Said>,
}

/// A line of the watch.
#[derive(Debug, Deserialize)]
struct Line {
    time_s: f64,
    connections: Vec<Report>,
    unseen_records: u64,
}

/// What was said last of each socket, and when it began, seconds since 1970.
#[derive(Debug, Default)]
struct Heard {
    connections: BTreeMap<u64, (f64, Report)>,
    unseen_records: u64,
}

/// A transfer, the truth, and both answers.
struct Compared {
    drawn: Drawn,
    truth: Option<CauseClass>,
    drops: [u64; 2],
    late_p99_us: i64,
    captured: (u64, Option<Said>),
    watched: (u64, Option<Said>),
}

/// Makes the transfers, asks both, and prints a table.
pub(crate) fn watched(options: &Options) -> Result<()> {
    let interrupted = side_by_side::prepare()?;
    let build = ["build", "--quiet", "-p", "losscause-cli", "--features", "linux"];
    shell::run(shell::cargo().args(build))?;
    let temporary = tempfile::tempdir()?;
    let folder = options.keep.as_deref().unwrap_or(temporary.path());
    let watch = Watching::begin()?;
    let drawn = (0..options.transfers).map(|number| {
        let kind = Kind::ALL[number as usize % Kind::ALL.len()];
        let mut drawn = kind.draw(options.seed + number / Kind::ALL.len() as u64);
        drawn.control = CONTROLS[number as usize % CONTROLS.len()];
        drawn
    });
    let made = side_by_side::each(drawn, options.jobs, &interrupted, |drawn| {
        let name = format!("{}-{:03}-{}", drawn.kind.name(), drawn.seed, drawn.control);
        eprintln!("{name}: {} s", drawn.seconds);
        let folder = folder.join(&name);
        make(drawn, &folder, &interrupted).context(name)
    })?;
    thread::sleep(SETTLES);
    let heard = watch.end()?;
    let mut compared: Vec<Compared> = Vec::new();
    for (mut one, port, span) in made {
        let of_it = heard.connections.values().filter(|(began, report)| {
            report.local.port() == port && (span.0 - 1.0..span.1).contains(began)
        });
        let report = of_it.max_by_key(|(_, report)| report.acked_bytes);
        let (_, report) = report.context("the watch did not see a transfer")?;
        one.watched = (report.lost_pkts, report.diagnosis.clone());
        compared.push(one);
    }
    compared.sort_by_key(|one| (one.drawn.kind.name(), one.drawn.seed, one.drawn.control));
    print!("{}", table(&compared));
    println!("{} records were dropped by the watch.", heard.unseen_records);
    check(&compared, options.within)
}

/// Makes a transfer; the port that it was sent from, and when it was made, seconds since 1970.
fn make(
    drawn: Drawn,
    folder: &Path,
    interrupted: &std::sync::atomic::AtomicBool,
) -> Result<(Compared, u16, (f64, f64))> {
    let context = losscause_study::Context::default();
    let network = Scenario::parse(&drawn.scenario, "link.toml", &context)?.experiment()?.network;
    let transfer = Transfer {
        path: EmulatedPath::new(&network, FlowId(0), drawn.seed)?,
        control: drawn.control.to_owned(),
        sack: true,
        timestamps: true,
        seconds: drawn.seconds,
        connections: 1,
        both_ends: false,
    };
    let begun = now();
    let made = transfer::make(&transfer, folder, interrupted)?;
    let span = (begun, now());
    let drops = [Cause::Congestion, Cause::Wireless].map(|cause| made.drops(cause));
    let queue = if drawn.policer_bps.is_some() { CauseClass::Policer } else { CauseClass::Queue };
    let truth = match drops[0].cmp(&drops[1]) {
        std::cmp::Ordering::Greater => Some(queue),
        std::cmp::Ordering::Less => Some(CauseClass::Air),
        std::cmp::Ordering::Equal => None,
    };
    let file = folder.join(CAPTURE);
    let analysis = analyze(File::open(&file)?, &file.display().to_string(), &Analyzing::all())?;
    let flow = analysis.flows.iter().max_by_key(|flow| flow.bytes).context("no flow")?;
    let said = flow.diagnosis.as_ref().map(|told| Said {
        cause: told.diagnosis.cause.name().to_owned(),
        certainty: told.diagnosis.certainty.name().to_owned(),
    });
    let port = flow.src.rsplit(':').next().context("a port")?.parse()?;
    let late_p99_us = made.lateness.p99_us;
    let captured = (flow.lost(), said);
    let compared = Compared { drawn, truth, drops, late_p99_us, captured, watched: (0, None) };
    Ok((compared, port, span))
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// A watch that runs.
struct Watching {
    child: Child,
    heard: Arc<Mutex<Heard>>,
    reader: thread::JoinHandle<Result<()>>,
}

impl Watching {
    fn begin() -> Result<Self> {
        let mut child = Command::new(shell::target().join("debug/losscause"))
            .args(["watch", "port=5001", "--format", "json", "--every", "1"])
            .stdout(Stdio::piped())
            .spawn()
            .context("losscause watch")?;
        let lines = BufReader::new(child.stdout.take().context("its output")?).lines();
        let heard = Arc::new(Mutex::new(Heard::default()));
        let hearing = Arc::clone(&heard);
        let reader = thread::spawn(move || {
            for line in lines {
                let line: Line = serde_json::from_str(&line?)?;
                let mut heard = hearing.lock().unwrap_or_else(PoisonError::into_inner);
                heard.unseen_records = line.unseen_records;
                for report in line.connections {
                    let began = line.time_s - report.watched_s;
                    let known = heard.connections.entry(report.socket);
                    let (first, newest) = known.or_insert_with(|| (began, report.clone()));
                    *first = first.min(began);
                    *newest = report;
                }
            }
            Ok(())
        });
        Ok(Self { child, heard, reader })
    }

    fn end(mut self) -> Result<Heard> {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT)?;
        self.child.wait()?;
        self.reader.join().unwrap_or_else(|_| bail!("a thread panicked"))?;
        let heard = std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(heard)
    }
}

/// Whether an answer names a cause, and the true one; none if it names none.
fn is_right(truth: Option<CauseClass>, said: Option<&Said>) -> Option<bool> {
    let said = said.filter(|said| said.certainty != "cannot-tell")?;
    Some(match truth {
        Some(CauseClass::Policer) => said.cause == "policer",
        Some(CauseClass::Queue) => matches!(said.cause.as_str(), "full-queue" | "managed-queue"),
        Some(CauseClass::Air) => said.cause == "air",
        Some(CauseClass::Outage) => said.cause == "outage",
        Some(CauseClass::NotLost) => false,
        None => false,
    })
}

fn told(said: Option<&Said>) -> String {
    said.map_or_else(|| "no loss".to_owned(), |said| format!("{} ({})", said.cause, said.certainty))
}

/// Named right, named wrong, not named.
fn counts(compared: &[Compared], of: fn(&Compared) -> Option<&Said>) -> [usize; 3] {
    let answers = compared.iter().map(|one| is_right(one.truth, of(one)));
    answers.fold([0; 3], |mut counts, answer| {
        counts[match answer {
            Some(true) => 0,
            Some(false) => 1,
            None => 2,
        }] += 1;
        counts
    })
}

const OF_WATCH: fn(&Compared) -> Option<&Said> = |one| one.watched.1.as_ref();
const OF_CAPTURE: fn(&Compared) -> Option<&Said> = |one| one.captured.1.as_ref();

fn table(compared: &[Compared]) -> String {
    let mut text = String::from(
        "| link | seed | control | dropped by queue, air | lost, by analyze | by watch | analyze | watch |\n\
         |---|--:|---|--:|--:|--:|---|---|\n",
    );
    for one in compared {
        let Drawn { kind, seed, control, .. } = one.drawn;
        let [queue, air] = one.drops;
        _ = writeln!(
            text,
            "| {} | {seed} | {control} | {queue}, {air} | {} | {} | {} | {} |",
            kind.name(),
            one.captured.0,
            one.watched.0,
            told(OF_CAPTURE(one)),
            told(OF_WATCH(one))
        );
    }
    for (name, of) in [("analyze", OF_CAPTURE), ("watch", OF_WATCH)] {
        let [right, wrong, untold] = counts(compared, of);
        _ = writeln!(text, "\n{name}: {right} right, {wrong} wrong, {untold} not told.");
    }
    let late = compared.iter().map(|one| one.late_p99_us).max().unwrap_or(0);
    _ = writeln!(
        text,
        "\nThe link delivered 99 of 100 packets at most {late} µs late in the worst transfer."
    );
    text
}

fn check(compared: &[Compared], within: Option<usize>) -> Result<()> {
    let Some(within) = within else { return Ok(()) };
    let [right, wrong, _] = counts(compared, OF_WATCH);
    let [of_capture, wrong_of_capture, _] = counts(compared, OF_CAPTURE);
    if wrong > wrong_of_capture || right + within < of_capture {
        bail!(
            "watch names {right} causes right and {wrong} wrong, analyze {of_capture} and {wrong_of_capture}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_names_nothing_is_neither_right_nor_wrong() {
        let said = |cause: &str, certainty: &str| Said {
            cause: cause.to_owned(),
            certainty: certainty.to_owned(),
        };
        let of = |truth, cause, certainty| is_right(truth, Some(&said(cause, certainty)));
        assert_eq!(of(Some(CauseClass::Queue), "managed-queue", "likely"), Some(true));
        assert_eq!(of(Some(CauseClass::Policer), "air", "clear"), Some(false));
        assert_eq!(of(None, "air", "clear"), Some(false), "as many by one cause as by the other");
        assert_eq!(of(Some(CauseClass::Air), "not-shown", "cannot-tell"), None);
        assert_eq!(is_right(Some(CauseClass::Air), None), None);
    }
}

//! The captures that are analysed: files, the parts of one, standard input, an interface.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use losscause_capture::frames::Frames;
use losscause_capture::{Analysis, CaptureError, Glance, Options};
use losscause_study::InputError;
use losscause_study::files::{self, Disk};
use losscause_study::scenario::Kind;

use crate::failure::Failure;
use crate::keys::Keys;
use crate::progress::Progress;
use crate::{input, interrupt, notice};

/// The analyses of the captures that can be used, and the first failure: a capture that cannot be
/// used, or else one that ended early.
pub(super) fn analyses(
    files: &[PathBuf],
    is_one: bool,
    interface: Option<&str>,
    options: &Options,
) -> (Vec<Analysis>, Option<Failure>) {
    let mut analyses = Vec::new();
    let mut failure = None;
    let mut take = |analysis| match analysis {
        Ok(analysis) => analyses.push(analysis),
        Err(error) => failure = failure.take().or(Some(error)),
    };
    match interface {
        Some(interface) => take(live(interface, options)),
        None if is_one => take(as_one(files, options)),
        None => files.iter().for_each(|file| take(one(file, options))),
    }
    let failure = failure.or_else(|| analyses.iter().find_map(incomplete));
    (analyses, failure)
}

/// A capture that ended early is a result and a failure.
pub(super) fn incomplete(analysis: &Analysis) -> Option<Failure> {
    Some(Failure::Incomplete(format!("{}: {}", analysis.file, analysis.cut()?)))
}

/// Analyses a file, or standard input.
fn one(file: &Path, options: &Options) -> Result<Analysis, Failure> {
    let name = name(file);
    let analysis = if input::is_standard(file) {
        // Ctrl-C ends what writes there, and so the capture, not the answer.
        interrupt::postpone();
        let is_told = io::stderr().is_terminal();
        losscause_capture::analyze_live(
            io::stdin().lock(),
            &name,
            options,
            &mut Told::new(is_told).tell(),
        )
    } else {
        open(file).and_then(|source| losscause_capture::analyze(source, &name, options))
    };
    with_flows(analysis.map_err(|error| unusable(file, error))?, options)
}

/// The failure of a capture that cannot be used.
pub(super) fn unusable(file: &Path, error: CaptureError) -> Failure {
    match error {
        error if input::is_standard(file) => Failure::Capture { file: name(file), error },
        CaptureError::Read(reason) if is_of_the_place(&reason) => {
            files::unreadable(&Disk, file, &reason, losscause_capture::EXPECTED).into()
        }
        CaptureError::NotACapture { .. } => match kind(file) {
            Some(kind) => {
                let expected = losscause_capture::EXPECTED;
                InputError::file(file.display().to_string(), kind.to_string(), expected).into()
            }
            None => Failure::Capture { file: name(file), error },
        },
        error => Failure::Capture { file: name(file), error },
    }
}

/// Whether the file could not even be opened, because of its name.
fn is_of_the_place(reason: &io::Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotFound, PermissionDenied};
    matches!(reason.kind(), IsADirectory | NotFound | PermissionDenied)
}

/// What a file is that another command reads.
fn kind(file: &Path) -> Option<Kind> {
    if input::is_read_once(file).is_some() {
        return None;
    }
    let text = files::text(&Disk, file, files::LARGEST_DOCUMENT, losscause_capture::EXPECTED);
    Kind::of_text(&text.ok()?)
}

/// An analysis that has flows.
fn with_flows(analysis: Analysis, options: &Options) -> Result<Analysis, Failure> {
    if analysis.has_no_flow() {
        return Err(Failure::NoFlow {
            problem: analysis.no_flow(is_filtered(options)),
            file: analysis.file,
        });
    }
    Ok(analysis)
}

/// Analyses the parts of one capture, in the order of their first packets.
fn as_one(files: &[PathBuf], options: &Options) -> Result<Analysis, Failure> {
    let mut parts = Vec::new();
    for file in files {
        if let Some(what) = input::is_read_once(file) {
            let name = file.display();
            return Err(Failure::Usage(format!(
                "--as-one {name}: {what} cannot be read twice, expected files"
            )));
        }
        let mut frames =
            open(file).and_then(Frames::open).map_err(|error| unusable(file, error))?;
        parts.extend(frames.next_frame().map(|first| (first.time, file)));
    }
    parts.sort();
    let named = match (parts.first(), parts.last()) {
        (Some((_, first)), Some((_, last))) if parts.len() > 1 => {
            format!("{} to {}", first.display(), last.display())
        }
        _ => name(&files[0]),
    };
    let unusable = |error: CaptureError| Failure::Capture { file: named.clone(), error };
    let sources: Result<Vec<_>, CaptureError> = parts.iter().map(|(_, file)| open(file)).collect();
    let analysis = losscause_capture::analyze_parts(sources.map_err(unusable)?, &named, options)
        .map_err(unusable)?;
    with_flows(analysis, options)
}

/// Captures headers on an interface with tcpdump until it ends or `q` or Ctrl-C comes, and analyses
/// them meanwhile.
fn live(interface: &str, options: &Options) -> Result<Analysis, Failure> {
    // Headers only; every packet at once.
    let arguments = ["-i", interface, "-s", "128", "-U", "-w", "-"];
    let tcpdump =
        Command::new("tcpdump").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut tcpdump = tcpdump.map_err(|error| {
        Failure::Usage(format!(
            "-i {interface}: tcpdump cannot be started ({error}), expected it to be installed"
        ))
    })?;
    let interrupted = interrupt::postpone();
    let keys = Keys::listen();
    let told =
        Told { end: if keys.is_some() { "q or Ctrl-C" } else { "Ctrl-C" }, ..Told::new(true) };
    let out = tcpdump.stdout.take();
    let is_read = AtomicBool::new(false);
    let analysis = thread::scope(|scope| {
        // A terminal's Ctrl-C reaches tcpdump too; any other signal does not.
        let wait = || {
            while !is_read.load(Ordering::Relaxed) {
                let quits = wait_for_key(keys.as_ref());
                if quits {
                    ask_to_end(&tcpdump);
                }
                if quits || interrupted.load(Ordering::Relaxed) {
                    let begun = Instant::now();
                    while begun.elapsed() < GRACE && !is_read.load(Ordering::Relaxed) {
                        thread::sleep(LOOK);
                    }
                    let _ = tcpdump.kill();
                    break;
                }
            }
            let _ = tcpdump.wait();
            // The terminal is as it was before the answer is shown.
            drop(keys);
        };
        // Where no thread can be made, the capture ends with tcpdump.
        let _ = thread::Builder::new().spawn_scoped(scope, wait);
        let source: Box<dyn Read> =
            out.map_or_else(|| Box::new(io::empty()) as Box<dyn Read>, |out| Box::new(out));
        let analysis =
            losscause_capture::analyze_live(source, interface, options, &mut told.tell());
        is_read.store(true, Ordering::Relaxed);
        analysis
    });
    let unusable = |error: CaptureError| Failure::Capture { file: interface.to_owned(), error };
    with_flows(analysis.map_err(unusable)?, options)
}

/// Waits a moment for a key, and returns whether it ends the capture.
fn wait_for_key(keys: Option<&Keys>) -> bool {
    match keys {
        Some(keys) => keys.quits_within(LOOK),
        None => {
            thread::sleep(LOOK);
            false
        }
    }
}

/// Ends a program as Ctrl-C would.
#[cfg(unix)]
fn ask_to_end(program: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(id) = i32::try_from(program.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(id, Signal::INT);
    }
}

/// On other systems there is no key that asks for it.
#[cfg(not(unix))]
fn ask_to_end(_: &Child) {}

/// How long tcpdump may take to end by itself, and how often a signal is looked for.
const GRACE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(100);

/// What is told of a capture that is still being made.
struct Told {
    is_told: bool,
    /// What ends the capture.
    end: &'static str,
    last: Instant,
}

impl Told {
    fn new(is_told: bool) -> Self {
        Self { is_told, end: "Ctrl-C", last: Instant::now() }
    }

    /// A line a second, also of a capture that comes faster than it was made.
    fn tell(mut self) -> impl FnMut(Glance) {
        move |Glance { time_s, packets, flows, lost, .. }| {
            if self.is_told && self.last.elapsed() >= Duration::from_secs(1) {
                self.last = Instant::now();
                notice::print(&format!(
                    "{time_s:.0} s: packets {packets}, flows {flows}, lost {lost}; {} ends",
                    self.end
                ));
            }
        }
    }
}

/// A capture's name for people.
pub(super) fn name(file: &Path) -> String {
    if input::is_standard(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// Opens a capture whose reading shows as progress, or standard input.
pub(super) fn open(file: &Path) -> Result<Box<dyn Read>, CaptureError> {
    if input::is_standard(file) {
        return Ok(Box::new(io::stdin().lock()));
    }
    // Reading a directory fails with a different error on every system.
    if file.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    let opened = File::open(file)?;
    let bytes = opened.metadata().map_or(0, |metadata| metadata.len());
    Ok(Box::new(Watched::new(opened, bytes)))
}

pub(super) fn is_filtered(options: &Options) -> bool {
    !options.flows.is_all() || options.from_s.is_some() || options.to_s.is_some()
}

/// A file whose reading shows as progress.
struct Watched {
    file: File,
    read: u64,
    bytes: u64,
    progress: Progress,
}

const MEBIBYTE: u64 = 1 << 20;

impl Watched {
    fn new(file: File, bytes: u64) -> Self {
        Self { file, read: 0, bytes, progress: Progress::new("MiB", (bytes / MEBIBYTE) as usize) }
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read += read as u64;
        let share = self.read as f64 / self.bytes.max(1) as f64;
        self.progress.set_weighed((self.read / MEBIBYTE) as usize, share.min(1.0));
        Ok(read)
    }
}

//! The first process of a host: it starts a command, and takes it along when it ends.
//!
//! The program starts itself again, in a process namespace of the host's own, and [`intercept`]
//! makes that instance the launcher. The kernel kills it when the program ends, however that
//! happens, and kills every other process of its namespace with it. No process of a command
//! therefore outlives the program, or the command itself.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;

use super::error::Error;

/// The first argument of a launcher.
const ARGUMENT: &str = "__losscause-launcher";

/// The exit status of a launcher that cannot start its command, as in a shell.
const CANNOT_START: u8 = 126;

/// For `kill`: every process of the namespace but the launcher.
const EVERY_OTHER_PROCESS: Pid = Pid::from_raw(-1);

/// The words that [`state_itself`] stated.
static ITSELF: OnceLock<Vec<OsString>> = OnceLock::new();

/// States the words that start this program, where its file alone does not: an interpreter's, and
/// the script. The first statement counts.
pub fn state_itself(words: Vec<OsString>) {
    let _ = ITSELF.set(words);
}

/// The words that were stated to start this program.
pub fn itself() -> Option<&'static [OsString]> {
    ITSELF.get().map(Vec::as_slice).filter(|words| !words.is_empty())
}

/// A launcher and its command.
#[derive(Debug)]
pub(super) struct Launched(Child);

/// Where a command's output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// To the program's own standard output.
    Standard,
    /// To the program's standard error.
    Error,
}

impl Launched {
    /// Starts a command from the calling thread, which is in the host's network and must live as
    /// long as the command. It must be the thread's only one.
    pub(super) fn start(
        command: &[OsString],
        variables: &[(&'static str, String)],
        input: Stdio,
        output: Output,
    ) -> Result<Self, Error> {
        let what = "the command cannot be started";
        unshare(CloneFlags::CLONE_NEWPID).map_err(Error::NotRoot)?;
        let output = match output {
            Output::Standard => Stdio::inherit(),
            Output::Error => Stdio::from(io::stderr()),
        };
        let (program, words) = itself().and_then(<[_]>::split_first).unzip();
        let mut launcher =
            Command::new(program.map_or(OsStr::new("/proc/self/exe"), OsString::as_os_str));
        launcher.args(words.unwrap_or_default());
        launcher.arg(ARGUMENT).arg(std::process::id().to_string()).args(command);
        launcher.envs(variables.iter().map(|(name, value)| (*name, value)));
        launcher.stdin(input).stdout(output).spawn().map(Self).map_err(Error::system(what))
    }

    /// The exit status, if it has ended.
    pub(super) fn try_status(&mut self) -> Result<Option<u8>, Error> {
        let status =
            self.0.try_wait().map_err(Error::system("the command cannot be waited for"))?;
        Ok(status.map(status_of))
    }

    /// Asks all processes of the command to end.
    pub(super) fn terminate(&self) {
        // If it has ended already, that is as good.
        let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
    }

    /// Ends it and all its processes.
    pub(super) fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.end();
    }
}

/// A process's exit status as a shell tells it: 128 plus the number of the signal that ended it.
fn status_of(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| 128 + signal);
    u8::try_from(status.code().or(signal).unwrap_or(1)).unwrap_or(1)
}

/// If this process was started as a launcher, by its arguments, the program's name first, runs the
/// command and returns its exit status; none otherwise. Call it first in `main` of every program
/// that emulates links.
pub fn intercept(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != OsStr::new(ARGUMENT) {
        return None;
    }
    let parent = arguments.next()?.into_string().ok()?.parse().ok()?;
    let command: Vec<OsString> = arguments.collect();
    Some(run(parent, &command).unwrap_or_else(|(what, reason)| {
        // The exit status tells it as well.
        let _ = writeln!(io::stderr(), "losscause: {what} ({reason})");
        CANNOT_START
    }))
}

/// Runs the command as the only child. `parent` is the program's process.
fn run(parent: u32, command: &[OsString]) -> Result<u8, (String, io::Error)> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |reason: io::Error| (what, reason)
    };
    let system = |what: &str| {
        let what = what.to_owned();
        move |reason: nix::errno::Errno| (what, reason.into())
    };
    set_pdeathsig(Signal::SIGKILL).map_err(system("the command cannot be tied to the program"))?;
    // It may have ended before. The mounted /proc is still that of the program's own process
    // namespace.
    if parent_of_this_process() != Some(parent) {
        return Ok(CANNOT_START);
    }
    show_own_processes().map_err(system("/proc cannot be mounted"))?;
    let Some((program, arguments)) = command.split_first() else { return Ok(CANNOT_START) };
    let mut signals = Signals::new([SIGTERM]).map_err(failed("signals cannot be handled"))?;
    let started = Command::new(program).args(arguments).spawn();
    let child = started.map_err(failed(&program.to_string_lossy()))?;
    let asked = Arc::new(AtomicBool::new(false));
    let ask = Arc::clone(&asked);
    thread::spawn(move || {
        for _ in signals.forever() {
            ask.store(true, Ordering::Relaxed);
            let _ = kill(EVERY_OTHER_PROCESS, Signal::SIGTERM);
        }
    });
    wait_for(Pid::from_raw(child.id() as i32), &asked)
        .map_err(system("the command cannot be waited for"))
}

/// The process that started this one, by the mounted /proc.
fn parent_of_this_process() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Mounts a /proc of this process namespace, for this process and those that it starts.
fn show_own_processes() -> nix::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_SLAVE, nothing)?;
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing)
}

/// Waits until the child ends, and meanwhile for orphans, whose parent the first process of a
/// namespace becomes. If they were `asked` to end, waits for all processes: what a shell started
/// may take longer than the shell.
fn wait_for(child: Pid, asked: &AtomicBool) -> nix::Result<u8> {
    use nix::errno::Errno;
    use nix::sys::wait::{WaitStatus, wait};
    let mut childs_status = None;
    loop {
        match wait() {
            Ok(WaitStatus::Exited(pid, status)) if pid == child => {
                childs_status = Some(u8::try_from(status).unwrap_or(1));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => {
                childs_status = Some(128 + signal as u8);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return childs_status.filter(|_| error == Errno::ECHILD).ok_or(error),
        }
        if let Some(status) = childs_status
            && !asked.load(Ordering::Relaxed)
        {
            return Ok(status);
        }
    }
}

//! One run: two hosts, the link between them, a command in each.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path as FilePath;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::clock::Clock;
use super::error::Error;
use super::host::{Host, PEER, SENDER, device_drops, is_listening};
use super::launcher::{Launched, Output};
use super::link::{EmulatedLink, LinkReport};
use super::path::Path;
use super::record::{Outputs, Recorder};
use super::stall::StallWatch;
use super::summary::{DeviceDrops, Summary};

/// What is to be run.
pub struct Setup {
    /// The path from COMMAND to the peer, and back.
    pub path: Path,
    /// COMMAND: a program and its arguments.
    pub command: Vec<OsString>,
    /// Where COMMAND's standard output goes. The peer's goes to the program's standard error.
    pub output: Output,
    /// The peer's command, which a shell (`sh -c`) runs. It is ended when COMMAND ends.
    pub peer: Option<OsString>,
    /// What is written during the run.
    pub outputs: Outputs,
}

/// The environment variable with the address of the other end, for both commands.
pub const PEER_VARIABLE: &str = "LOSSCAUSE_PEER";

/// COMMAND begins when the peer's command waits for connections or datagrams, or after this.
const PEER_PATIENCE: Duration = Duration::from_secs(2);
/// After COMMAND, the peer's command may end by itself within this, then it is asked to.
const PEER_UNASKED: Duration = Duration::from_secs(2);
/// After that long it is ended.
const PEER_ASKED: Duration = Duration::from_secs(5);
/// After an interruption COMMAND may end by itself (a terminal has told it, too), then it is asked
/// to.
const UNASKED: Duration = Duration::from_millis(500);
/// After that long, since the interruption, it is ended.
const ASKED: Duration = Duration::from_millis(2_500);
/// How often commands are looked at.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs COMMAND and the peer's command over the path until COMMAND ends, or is made to end because
/// of `interrupted`.
///
/// The program must call [`intercept`](super::intercept) first in its `main`.
///
/// # Errors
/// COMMAND does not exist, the program is not root, TUN is missing, the peer's command ends with a
/// failure before COMMAND begins, an output cannot be written, or the kernel refuses a step.
/// Nothing is left behind.
pub fn emulate(setup: Setup, interrupted: &AtomicBool) -> Result<Summary, Error> {
    let Setup { path, command, output, peer, outputs } = setup;
    find(command.first().map_or(OsStr::new(""), OsString::as_os_str))?;
    let (sender, senders_device) = Host::new(SENDER, &[])?;
    let (receiver, receivers_device) = Host::new(PEER, &[])?;
    let clock = Clock::start();
    let link = EmulatedLink::new(&path, [senders_device, receivers_device], clock)?;
    let (mut collector, recorder) = Recorder::start(outputs, clock, path.link_names())?;
    let link = Running::start(move |stop| link.run(stop, |sight| collector.take(&sight)))?;
    let stalls = StallWatch::start(clock)?;

    let ended = run_commands([&sender, &receiver], command, output, peer, &link, interrupted);
    let drops = [&sender, &receiver].map(|host| host.run(device_drops)?);
    // All threads end before an error is reported. The devices end with the link's thread, so
    // whatever failed because of that is reported after the thread's own error.
    let host_stall_ms = stalls.stop();
    let link = link.stop()?;
    let ended = ended?;
    let host_stall_ms = host_stall_ms?;
    let [sender, peer] = drops;
    let device_drops = DeviceDrops { sender: sender?, peer: peer? };
    recorder.finish(ended, link, host_stall_ms, device_drops)
}

/// Runs COMMAND and the peer's command, each in its host. Returns their exit statuses; the peer's
/// if it ended by itself.
fn run_commands(
    [sender, receiver]: [&Host; 2],
    command: Vec<OsString>,
    output: Output,
    peer: Option<OsString>,
    link: &Running<LinkReport>,
    interrupted: &AtomicBool,
) -> Result<(u8, Option<u8>), Error> {
    let shell = |peer: OsString| vec!["sh".into(), "-c".into(), peer];
    let mut peer =
        peer.map(|peer| start(receiver, shell(peer), SENDER, Output::Error)).transpose()?;
    if let Some(peer) = &mut peer {
        wait_until_listening(peer, receiver, interrupted)?;
    }
    let mut command = start(sender, command, PEER, output)?;
    let exit_status = wait(&mut command, link, interrupted)?;
    drop(command);
    let Some(mut peer) = peer else { return Ok((exit_status, None)) };
    let peer_status = ends_within(&mut peer, PEER_UNASKED)?;
    if peer_status.is_none() {
        peer.terminate();
        ends_within(&mut peer, PEER_ASKED)?;
    }
    Ok((exit_status, peer_status))
}

/// Starts a command in a host.
fn start(
    host: &Host,
    command: Vec<OsString>,
    other_end: std::net::Ipv4Addr,
    output: Output,
) -> Result<Launched, Error> {
    host.run(move || {
        let input = if other_end == PEER { Stdio::inherit() } else { Stdio::null() };
        Launched::start(&command, &[(PEER_VARIABLE, other_end.to_string())], input, output)
    })?
}

fn wait_until_listening(
    peer: &mut Launched,
    host: &Host,
    interrupted: &AtomicBool,
) -> Result<(), Error> {
    let begun = Instant::now();
    while begun.elapsed() < PEER_PATIENCE
        && !interrupted.load(Ordering::Relaxed)
        && !host.run(is_listening)?
    {
        match peer.try_status()? {
            Some(0) => return Ok(()),
            Some(status) => return Err(Error::PeerEnded { status }),
            None => thread::sleep(PAUSE),
        }
    }
    Ok(())
}

/// Waits until COMMAND ends and returns its exit status. If the link ends first, COMMAND is ended,
/// too.
fn wait(
    command: &mut Launched,
    link: &Running<LinkReport>,
    interrupted: &AtomicBool,
) -> Result<u8, Error> {
    let mut interrupted_at = None;
    let mut asked = false;
    loop {
        if let Some(status) = command.try_status()? {
            return Ok(status);
        }
        if interrupted.load(Ordering::Relaxed) {
            let since = interrupted_at.get_or_insert_with(Instant::now).elapsed();
            if since > UNASKED && !asked {
                command.terminate();
                asked = true;
            }
            if since > ASKED {
                command.end();
            }
        }
        if link.is_over() {
            command.end();
        }
        thread::sleep(PAUSE);
    }
}

/// The exit status of a command that ends by itself within this time.
fn ends_within(command: &mut Launched, patience: Duration) -> Result<Option<u8>, Error> {
    let begun = Instant::now();
    loop {
        match command.try_status()? {
            None if begun.elapsed() <= patience => thread::sleep(PAUSE),
            status => return Ok(status),
        }
    }
}

/// A thread that runs until it is told to stop.
struct Running<T> {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<T, Error>>>,
}

impl<T: Send + 'static> Running<T> {
    fn start(
        run: impl FnOnce(&AtomicBool) -> Result<T, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::Builder::new().name("link".to_owned()).spawn(move || run(&told));
        Ok(Self {
            stop,
            thread: Some(thread.map_err(Error::system("a thread cannot be started"))?),
        })
    }

    fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn stop(mut self) -> Result<T, Error> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().ok_or(Error::Thread)?.join().map_err(|_| Error::Thread)?
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Checks that a program exists and may be executed: as a path if it has a slash, on the PATH
/// otherwise.
fn find(program: &OsStr) -> Result<(), Error> {
    let is_program = |file: &FilePath| {
        fs::metadata(file)
            .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let found = if program.as_encoded_bytes().contains(&b'/') {
        is_program(FilePath::new(program))
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        !program.is_empty()
            && std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
    };
    if found {
        Ok(())
    } else {
        Err(Error::NoProgram { program: program.to_string_lossy().into_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_on_the_path_or_by_its_own_path() {
        assert!(find(OsStr::new("sh")).is_ok() && find(OsStr::new("/bin/sh")).is_ok());
        for missing in ["", "no-such-program", "/bin", "./no-such-program", "/etc/passwd"] {
            let error = find(OsStr::new(missing)).unwrap_err();
            assert!(
                error.is_bad_input()
                    && matches!(&error, Error::NoProgram { program } if program == missing)
            );
        }
    }
}

//! tcpdump at a host's device.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use losscause_linux::emulator::DEVICE;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::shell;

/// Bytes of every packet that are captured: the headers.
const SNAP: &str = "128";
/// tcpdump gets the last packets from the kernel at the latest after this.
const CAPTURE_DELAY: Duration = Duration::from_millis(1_200);

/// tcpdump at the calling thread's device.
pub(super) struct Capture {
    tcpdump: Child,
    messages: BufReader<std::process::ChildStderr>,
}

impl Capture {
    /// Starts it, and waits until it listens.
    pub(super) fn start(file: &Path) -> Result<Self> {
        let mut command = shell::command("tcpdump");
        command
            .args(["-i", DEVICE, "-n", "-s", SNAP, "-B", "8192", "-Z", "root", "-w"])
            .arg(file)
            .arg("tcp");
        let mut tcpdump = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("tcpdump cannot be started")?;
        let mut messages =
            BufReader::new(tcpdump.stderr.take().context("tcpdump has no messages")?);
        let mut line = String::new();
        while !line.contains("listening on") {
            line.clear();
            if messages.read_line(&mut line)? == 0 {
                bail!("tcpdump ended at once");
            }
        }
        Ok(Self { tcpdump, messages })
    }

    /// Stops it.
    ///
    /// # Errors
    /// If it missed packets.
    pub(super) fn finish(mut self) -> Result<()> {
        std::thread::sleep(CAPTURE_DELAY);
        kill(Pid::from_raw(i32::try_from(self.tcpdump.id())?), Signal::SIGTERM)?;
        let missed = (&mut self.messages)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_suffix(" packets dropped by kernel")?.parse::<u64>().ok());
        self.tcpdump.wait()?;
        match missed {
            Some(0) => Ok(()),
            Some(missed) => bail!("tcpdump missed {missed} packets"),
            None => bail!("tcpdump did not say whether it missed packets"),
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // Only a capture that was not finished still runs.
        let _ = self.tcpdump.kill();
        let _ = self.tcpdump.wait();
    }
}

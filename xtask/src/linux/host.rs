//! A host of its own: a thread in a new network namespace, with one TUN device.
//!
//! The namespace has no name. It ends with the last thread, process and socket in it, so nothing has to be removed,
//! however this program ends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::shell;

const DEVICE: &str = "tun0";
/// Bytes of every packet that are captured: the headers.
const SNAP: &str = "128";
/// tcpdump gets the last packets from the kernel at the latest after this.
const CAPTURE_DELAY: Duration = Duration::from_millis(1_200);

/// Moves the calling thread to a network of its own with one device, whose other end is returned. `sysctls` are settings
/// below net.ipv4.
pub(super) fn enter(own: Ipv4Addr, peer: Ipv4Addr, sysctls: &[(&str, String)]) -> Result<SyncDevice> {
    unshare(CloneFlags::CLONE_NEWNET).context("a network namespace cannot be made; this needs root")?;
    set("net/ipv6/conf/all/disable_ipv6", "1")?;
    for (name, value) in sysctls {
        set(&format!("net/ipv4/{name}"), value)?;
    }
    let device = DeviceBuilder::new().name(DEVICE).mtu(1_500).build_sync().context("a TUN device cannot be made")?;
    let ip = |arguments: &[&str]| shell::run(shell::command("ip").args(arguments));
    ip(&["address", "add", &own.to_string(), "peer", &peer.to_string(), "dev", DEVICE])?;
    ip(&["link", "set", DEVICE, "up"])?;
    Ok(device)
}

fn set(name: &str, value: &str) -> Result<()> {
    fs::write(Path::new("/proc/sys").join(name), value).with_context(|| format!("{name} cannot be set to {value}"))
}

/// Packets that the calling thread's device dropped by itself.
pub(super) fn device_drops() -> Result<u64> {
    let table = fs::read_to_string("/proc/thread-self/net/dev")?;
    drops_of(&table, DEVICE).with_context(|| format!("/proc/net/dev: {DEVICE} is missing"))
}

/// The dropped packets of a device, both ways, from the text of /proc/net/dev.
fn drops_of(table: &str, device: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'))?;
    let counts: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    Some(counts.get(3)? + counts.get(11)?)
}

/// tcpdump at the calling thread's device.
pub(super) struct Capture {
    tcpdump: Child,
    messages: BufReader<std::process::ChildStderr>,
}

impl Capture {
    /// Starts it, and waits until it listens.
    pub(super) fn start(file: &Path) -> Result<Self> {
        let mut command = shell::command("tcpdump");
        command.args(["-i", DEVICE, "-n", "-s", SNAP, "-B", "8192", "-Z", "root", "-w"]).arg(file).arg("tcp");
        let mut tcpdump =
            command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().context("tcpdump cannot be started")?;
        let mut messages = BufReader::new(tcpdump.stderr.take().context("tcpdump has no messages")?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_s_drops_are_both_ways() {
        let table = "Inter-|   Receive      |  Transmit\n face |bytes    packets errs drop\n    \
                     lo:       0       0    0    9    0     0          0         0        0       0    0    9    0     0       0          0\n  \
                     tun0: 3432 66 0 2 0 0 0 0 121824 85 0 3 0 0 0 0\n";
        assert_eq!(drops_of(table, "tun0"), Some(5));
        assert_eq!(drops_of(table, "tun1"), None);
    }
}

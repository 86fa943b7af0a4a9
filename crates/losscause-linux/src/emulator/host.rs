//! A host of its own: a network namespace with one TUN device, and a thread in it.
//!
//! The namespace has no name. It ends with the last thread, process and socket in it, so nothing
//! has to be removed, however this program ends.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, unshare};
use tun_rs::{DeviceBuilder, SyncDevice};

use super::error::Error;
use super::loopback;

/// The sender's address: COMMAND's.
pub const SENDER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The peer's address.
pub const PEER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// The name of the device in either namespace.
pub const DEVICE: &str = "tun0";
/// The largest packet, bytes with IPv4's header.
pub const MTU_BYTES: u16 = 1_500;
/// Packets that the device keeps for the link while the link's thread is not running.
const DEVICE_QUEUE_PACKETS: u32 = 10_000;

/// What is asked of a host's thread.
type Job = Box<dyn FnOnce() + Send>;

/// A host, and the thread that made it and stays in it.
#[derive(Debug)]
pub struct Host {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Host {
    /// A new host with an address, and the link's end of its device.
    ///
    /// # Errors
    /// See [`enter`].
    pub fn new(
        own: Ipv4Addr,
        sysctls: &[(&'static str, String)],
    ) -> Result<(Self, SyncDevice), Error> {
        let (jobs, waiting) = channel::<Job>();
        let thread = thread::Builder::new()
            .name("host".to_owned())
            .spawn(move || waiting.iter().for_each(|job| job()));
        let thread = thread.map_err(Error::system("a thread cannot be started"))?;
        let host = Self { jobs: Some(jobs), thread: Some(thread) };
        let sysctls = sysctls.to_vec();
        let device = host.run(move || enter(own, &sysctls))??;
        Ok((host, device))
    }

    /// Runs `job` on the host's thread and waits for its result.
    ///
    /// # Errors
    /// The thread has panicked.
    pub fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (result, wait) = channel();
        let job = move || {
            // Without a receiver the result is not wanted.
            let _ = result.send(job());
        };
        let jobs = self.jobs.as_ref().ok_or(Error::Thread)?;
        jobs.send(Box::new(job)).map_err(|_| Error::Thread)?;
        wait.recv().map_err(|_| Error::Thread)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The thread ends when no more jobs can come.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Moves the calling thread to a network of its own with one TUN device, and returns the link's end
/// of it. `sysctls` are settings below net.ipv4 and their values. IPv6 is off: every packet on the
/// link is one that a command sent.
///
/// A TUN device without offloads hands over packets as they would be on a wire: the kernel has cut
/// and checksummed them.
///
/// # Errors
/// The program is not root, TUN is missing, or the kernel refuses a step.
pub fn enter(own: Ipv4Addr, sysctls: &[(&str, String)]) -> Result<SyncDevice, Error> {
    if !Path::new("/dev/net/tun").exists() {
        return Err(Error::NoTun);
    }
    unshare(CloneFlags::CLONE_NEWNET).map_err(Error::NotRoot)?;
    match set("net/ipv6/conf/all/disable_ipv6", "1") {
        // This kernel has no IPv6.
        Err(Error::System { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => {}
        outcome => outcome?,
    }
    for (name, value) in sysctls {
        set(&format!("net/ipv4/{name}"), value)?;
    }
    loopback::bring_up().map_err(Error::system("the loopback device cannot be set up"))?;
    let device = DeviceBuilder::new()
        .name(DEVICE)
        .mtu(MTU_BYTES)
        .ipv4(own, 30, None)
        .with(|options| {
            options.tx_queue_len(DEVICE_QUEUE_PACKETS);
        })
        .build_sync()
        .map_err(Error::system("a TUN device cannot be made"))?;
    device
        .set_nonblocking(true)
        .map_err(Error::system("the TUN device cannot be read without waiting"))?;
    Ok(device)
}

fn set(name: &str, value: &str) -> Result<(), Error> {
    let file = Path::new("/proc/sys").join(name);
    fs::write(&file, value).map_err(|reason| Error::System {
        what: format!("{name} cannot be set to {value}"),
        reason,
    })
}

/// Packets that the device of the calling thread's network dropped by itself, in both directions.
///
/// # Errors
/// The kernel's table cannot be read.
pub fn device_drops() -> Result<u64, Error> {
    let what = "/proc/net/dev does not tell the device's drops";
    let table = fs::read_to_string("/proc/thread-self/net/dev").map_err(Error::system(what))?;
    drops_of(&table, DEVICE).ok_or(io::ErrorKind::InvalidData).map_err(Error::system(what))
}

/// The dropped packets of a device, both ways, from the text of /proc/net/dev.
fn drops_of(table: &str, device: &str) -> Option<u64> {
    let line =
        table.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'))?;
    let counts: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    Some(counts.get(3)? + counts.get(11)?)
}

/// Whether a socket of the calling thread's network waits for connections or datagrams.
pub(super) fn is_listening() -> bool {
    let table = |name: &str| {
        fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default()
    };
    ["tcp", "tcp6"].iter().any(|name| has_state(&table(name), "0A"))
        || ["udp", "udp6"].iter().any(|name| has_state(&table(name), "07"))
}

/// Whether a socket in the text of /proc/net/tcp or /proc/net/udp has this state: 0A waits for
/// connections, 07 for datagrams.
fn has_state(table: &str, state: &str) -> bool {
    table.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(state))
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

    #[test]
    fn a_socket_that_waits_is_found_by_its_state() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
                     0: 0100007F:1451 00000000:0000 0A 00000000:00000000\n   \
                     1: 0100007F:1451 0100007F:9C40 01 00000000:00000000\n";
        assert!(has_state(table, "0A") && has_state(table, "01") && !has_state(table, "07"));
        assert!(!has_state("", "0A"));
    }
}

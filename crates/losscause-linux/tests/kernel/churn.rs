//! Programs come and go while connections use them.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use libbpf_rs::query::{MapInfoIter, ProgInfoIter};
use losscause_linux::kernel::{algorithm, unload};
use nix::fcntl::OFlag;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{setsockopt, sockopt};

use super::{Loaded, fit, hang};

const CONNECTIONS: usize = 20;
const BYTES: usize = 50_000;

/// Both ends of a connection.
struct Pair {
    near: TcpStream,
    far: TcpStream,
}

impl Pair {
    fn open(listener: &TcpListener, algorithm: &'static str) -> Self {
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        setsockopt(&near, sockopt::TcpCongestion, &algorithm.into()).unwrap();
        Self { near, far: listener.accept().unwrap().0 }
    }

    fn send(&mut self) {
        self.near.write_all(&[7; BYTES]).unwrap();
        self.far.read_exact(&mut [0; BYTES]).unwrap();
    }
}

/// The kernel's messages from now on.
struct KernelLog(File);

impl KernelLog {
    fn from_now_on() -> Self {
        let nonblocking = OFlag::O_NONBLOCK.bits();
        let mut log =
            OpenOptions::new().read(true).custom_flags(nonblocking).open("/dev/kmsg").unwrap();
        log.seek(SeekFrom::End(0)).unwrap();
        Self(log)
    }

    /// Warnings and worse of the kernel itself. A message is "PRIORITY,…;TEXT".
    fn warnings(mut self) -> Vec<String> {
        const WARNING: u32 = 4;
        let mut warnings = Vec::new();
        let mut buffer = [0; 8_192];
        loop {
            match self.0.read(&mut buffer) {
                Ok(length) => {
                    let message = String::from_utf8_lossy(&buffer[..length]).into_owned();
                    let priority: u32 = message.split(',').next().unwrap().parse().unwrap();
                    if priority <= WARNING {
                        warnings.push(message);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return warnings,
                Err(error) => panic!("/dev/kmsg: {error}"),
            }
        }
    }
}

/// The programs and maps in the kernel that are ours, by kind, number and name. A struct_ops is a
/// map.
fn in_the_kernel() -> BTreeSet<(&'static str, u32, String)> {
    let ours = |name: &str| {
        name.starts_with("lc_")
            || matches!(name, "connections" | "totals" | "judgements" | "log_state")
    };
    let programs = ProgInfoIter::default()
        .map(|info| ("program", info.id, info.name.to_string_lossy().into_owned()));
    let maps = MapInfoIter::default()
        .map(|info| ("map", info.id, info.name.to_string_lossy().into_owned()));
    programs.chain(maps).filter(|(_, _, name)| ours(name)).collect()
}

#[test]
fn two_hundred_connections_over_ten_loads_leave_nothing() {
    come_and_go(algorithm::ALGORITHMS.len());
}

#[test]
#[ignore = "half a minute of the kernel's verifier: the same, five times"]
fn a_thousand_connections_over_fifty_loads_leave_nothing() {
    come_and_go(5 * algorithm::ALGORITHMS.len());
}

/// Loads one program after the other, each with connections that outlive it by a round.
fn come_and_go(rounds: usize) {
    let Some(_one) = fit() else { return };
    let before = in_the_kernel();
    let log = KernelLog::from_now_on();
    let in_own_network = move || {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap().success());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut outliving: Vec<Pair> = Vec::new();
        for round in 0..rounds {
            let algorithm = &algorithm::ALGORITHMS[round % algorithm::ALGORITHMS.len()];
            let _loaded = Loaded::new(algorithm.name, &[]);
            let mut pairs: Vec<Pair> =
                (0..CONNECTIONS).map(|_| Pair::open(&listener, algorithm.name)).collect();
            pairs.iter_mut().for_each(Pair::send);
            // Those of the round before have lost their registration, and go on.
            outliving.iter_mut().for_each(Pair::send);
            outliving = pairs;
            assert_eq!(unload(algorithm.name, true).unwrap(), CONNECTIONS);
        }
        outliving.iter_mut().for_each(Pair::send);
    };
    thread::spawn(in_own_network).join().unwrap();
    // The kernel frees programs when the last socket that uses them is gone, which takes it a
    // moment.
    hang::wait_until("the kernel has freed the programs and maps", || {
        in_the_kernel().is_subset(&before)
    });
    let pins = Path::new("/sys/fs/bpf/losscause");
    assert!(algorithm::ALGORITHMS.iter().all(|algorithm| !pins.join(algorithm.name).exists()));
    assert_eq!(log.warnings(), Vec::<String>::new());
}

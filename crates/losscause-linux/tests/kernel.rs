//! The programs in the running kernel: the verifier passes them, they attach, they tell wireless
//! losses from congestion, and nothing of them is left. Needs root, BTF and clang; a test without
//! them says so, and fails if CI is set.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "common/hang.rs"]
mod hang;

#[path = "kernel/churn.rs"]
mod churn;
#[path = "kernel/link.rs"]
mod link;
#[path = "kernel/log.rs"]
mod log;
#[path = "kernel/trial.rs"]
mod trial;
#[path = "kernel/watch.rs"]
mod watch;

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use link::{Link, Transfer};
use losscause_linux::kernel::{
    Algorithm, KernelError, Options, Why, algorithm, load, status, unload,
};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{MsgFlags, send, setsockopt, sockopt};

/// Only one test at a time: a name can be loaded once.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Has the number of the process whose test is running.
const MARK: &str = "/run/losscause-kernel-tests";

/// The only test that runs.
struct Alone {
    _guard: MutexGuard<'static, ()>,
}

impl Alone {
    /// Waits for the other tests, and unloads what a killed test has left. What a user has loaded
    /// stays: then there is no mark of a process that is gone.
    fn begin() -> Self {
        let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = |process: &str| Path::new("/proc").join(process).exists();
        if std::fs::read_to_string(MARK).is_ok_and(|process| !is_running(&process)) {
            for left in status(None).unwrap_or_default() {
                unload(left.name, true).unwrap();
            }
        }
        // Who may not write it may not load a program either.
        let _ = std::fs::write(MARK, std::process::id().to_string());
        Self { _guard: guard }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(MARK);
    }
}

/// None, with the reason printed, if this machine cannot load a program.
fn fit() -> Option<Alone> {
    /// Why it cannot.
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let alone = Alone::begin();
    let Some(reason) = MISSING.get_or_init(missing) else { return Some(alone) };
    assert!(std::env::var_os("CI").is_none(), "skipped, which CI forbids: {reason}");
    println!("skipped: {reason}");
    None
}

fn missing() -> Option<String> {
    match load(&Algorithm::find("lc_spike").unwrap().settings(), &Options::default()) {
        Ok(_) => {
            unload("lc_spike", true).unwrap();
            None
        }
        Err(KernelError::AlreadyLoaded { name }) => {
            Some(format!("{name} is loaded on this machine"))
        }
        Err(
            error @ (KernelError::NotRoot
            | KernelError::NoBtf { .. }
            | KernelError::OldKernel { .. }
            | KernelError::NoBpfFs { .. }),
        ) => Some(error.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// A program that is loaded until this is dropped.
struct Loaded(&'static str);

impl Loaded {
    fn new(name: &str, settings: &[&str]) -> Self {
        let mut loaded = Algorithm::find(name).unwrap().settings();
        settings.iter().for_each(|setting| loaded.set(setting).unwrap());
        Self(load(&loaded, &Options::default()).unwrap().name)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let _ = unload(self.0, true);
    }
}

fn registered() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap()
}

#[test]
fn every_program_passes_the_verifier_and_leaves_nothing() {
    let Some(_one) = fit() else { return };
    for algorithm in algorithm::ALGORITHMS {
        let loaded =
            load(&algorithm.settings(), &Options { allow_unprivileged: true, trial: None })
                .unwrap();
        let _loaded = Loaded(loaded.name);
        println!("{}: {:?}", loaded.name, loaded.verified);
        assert!(registered().split_whitespace().any(|name| name == algorithm.name));
        assert_eq!(unload(algorithm.name, false).unwrap(), 0);
        assert!(!registered().split_whitespace().any(|name| name == algorithm.name));
        assert!(!Path::new("/sys/fs/bpf/losscause").join(algorithm.name).exists());
    }
}

#[test]
fn a_name_is_loaded_once_and_what_is_not_loaded_is_not_unloaded() {
    let Some(_one) = fit() else { return };
    let zigzag = Algorithm::find("lc_zigzag").unwrap().settings();
    assert_eq!(unload("lc_zigzag", true).unwrap_err().to_string(), "lc_zigzag is not loaded");
    assert_eq!(status(Some("lc_zigzag")).unwrap_err().to_string(), "lc_zigzag is not loaded");
    let _loaded = Loaded::new("lc_zigzag", &[]);
    let again = load(&zigzag, &Options::default()).unwrap_err();
    assert_eq!(
        again.to_string(),
        "lc_zigzag is loaded already; losscause kernel unload lc_zigzag removes it"
    );
    // The refusal has left the loaded one alone.
    assert_eq!(status(Some("lc_zigzag")).unwrap()[0].totals.opened, 0);
}

#[test]
fn of_two_loads_at_once_one_loads_and_the_other_leaves_its_program_alone() {
    let Some(_alone) = fit() else { return };
    for _ in 0..3 {
        let begin = Barrier::new(2);
        let settings = Algorithm::find("lc_zigzag").unwrap().settings();
        let load = || {
            begin.wait();
            load(&settings, &Options::default())
        };
        let loads = thread::scope(|scope| {
            [scope.spawn(load), scope.spawn(load)].map(|load| load.join().unwrap())
        });
        let refused: Vec<String> =
            loads.into_iter().filter_map(Result::err).map(|e| e.to_string()).collect();
        let listed = status(Some("lc_zigzag")).map(|statuses| statuses.len());
        let unloaded = unload("lc_zigzag", true);
        assert_eq!(
            refused,
            ["lc_zigzag is loaded already; losscause kernel unload lc_zigzag removes it"]
        );
        assert_eq!((listed.unwrap(), unloaded.unwrap()), (1, 0));
    }
}

#[test]
fn a_connection_in_another_namespace_is_listed_with_its_program() {
    let Some(_one) = fit() else { return };
    let _loaded = Loaded::new("lc_spike", &[]);
    let link = Link::new(0);
    let transfer = link.start("lc_spike");
    let connection = hang::wait_for("the connection has a round-trip time", || {
        let connections = status(Some("lc_spike")).unwrap().remove(0).connections;
        connections.into_iter().find(|connection| connection.rtt.as_millis_f64() > 0.0)
    });
    assert_eq!(
        (connection.local.ip().to_string(), connection.remote.ip().to_string()),
        link.addresses()
    );
    assert!(connection.rtt_min.as_millis_f64() >= link::RTT_MS, "{connection:?}");
    let refused = unload("lc_spike", false).unwrap_err().to_string();
    assert!(
        refused.starts_with("lc_spike is in use by 1 connection: ")
            && refused.contains(&connection.local.to_string())
    );
    assert_eq!(unload("lc_spike", true).unwrap(), 1);
    // The live connection goes on without its registration.
    link.wait_for_delivery(link.delivered() + 50_000);
    transfer.stop();
}

/// Both ends of a connection in a network namespace that no process is in any more.
fn connection_of_a_namespace_without_processes(algorithm: &'static str) -> (TcpStream, TcpStream) {
    let connect = move || {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap().success());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        setsockopt(&near, sockopt::TcpCongestion, &algorithm.into()).unwrap();
        (near, listener.accept().unwrap().0)
    };
    thread::spawn(connect).join().unwrap()
}

#[test]
fn a_connection_in_an_empty_namespace_is_listed_for_its_holder() {
    let Some(_one) = fit() else { return };
    let _loaded = Loaded::new("lc_spike", &[]);
    let (near, _far) = connection_of_a_namespace_without_processes("lc_spike");
    // A second descriptor is no second connection.
    let _again = near.try_clone().unwrap();
    let connections = status(Some("lc_spike")).unwrap().remove(0).connections;
    assert_eq!(connections.len(), 1, "{connections:?}");
    assert_eq!(
        (connections[0].local, connections[0].remote),
        (near.local_addr().unwrap(), near.peer_addr().unwrap())
    );
    let own = std::fs::metadata("/proc/thread-self/ns/net").unwrap().ino();
    assert_ne!(u64::from(connections[0].netns), own);
}

/// A network namespace that is mounted on a file until this is dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// Mounts the namespace of the calling thread.
    fn own(file: PathBuf) -> Self {
        std::fs::write(&file, "").unwrap();
        mount(
            Some("/proc/thread-self/ns/net"),
            &file,
            None::<&str>,
            MsFlags::MS_BIND,
            None::<&str>,
        )
        .unwrap();
        Self(file)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = umount2(&self.0, MntFlags::MNT_DETACH);
    }
}

#[test]
fn a_closing_connection_is_listed_after_its_process_is_gone() {
    let Some(_one) = fit() else { return };
    let _loaded = Loaded::new("lc_spike", &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a namespace");
    let link = Link::new(0);
    let (mut stream, _mounted) = link.near(move || (link::connect("lc_spike"), Mounted::own(file)));
    let ends = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
    link.cut();
    // Nothing of this arrives, so the kernel keeps the connection after its process has closed it.
    stream.write_all(&[7; 10_000]).unwrap();
    drop(stream);
    let listed = || {
        let connections = status(Some("lc_spike")).unwrap().remove(0).connections;
        connections
            .iter()
            .map(|connection| (connection.local, connection.remote))
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(), [ends], "the namespace has threads");
    // The hosts end with the link.
    drop(link);
    assert_eq!(listed(), [ends], "the namespace is only mounted");
    let refused = unload("lc_spike", false).unwrap_err().to_string();
    assert!(refused.starts_with("lc_spike is in use by 1 connection: "), "{refused}");
}

#[test]
fn what_a_namespace_has_as_its_default_is_not_unloaded() {
    let Some(_one) = fit() else { return };
    let settings = Algorithm::find("lc_spike").unwrap().settings();
    let loaded = load(&settings, &Options { allow_unprivileged: true, trial: None }).unwrap();
    let _loaded = Loaded(loaded.name);
    let link = Link::new(0);
    let default = "/proc/sys/net/ipv4/tcp_congestion_control";
    link.near(move || std::fs::write(default, "lc_spike").unwrap());
    let refused = unload("lc_spike", false).unwrap_err().to_string();
    assert!(refused.starts_with("lc_spike is the default of net:["), "{refused}");
}

#[test]
fn random_losses_are_ignored_and_the_window_stays_open() {
    let Some(_one) = fit() else { return };
    let _loaded = Loaded::new("lc_cubic_spike", &[]);
    // Every 50th packet is lost at 10 Mb/s and 40 ms: Reno's window would be about 9 of 34 packets.
    // Both at the same time, so that a busy machine holds up both.
    let [link, renos] = [(); 2].map(|()| Link::new(50));
    let transfers = [link.start("lc_cubic_spike"), renos.start("reno")];
    renos.wait_for_delivery(1_500_000);
    let [delivered, by_reno] = [link.delivered(), renos.delivered()];
    let estimate = status(Some("lc_cubic_spike")).unwrap()[0].connections[0].base_estimate_bps;
    transfers.into_iter().for_each(Transfer::stop);
    // At p = 0.02 and 40 to 75 ms: sqrt(75) = 8.7 packets, CUBIC by its own law 2.8; 2.5 to 1.3 Mb/s.
    assert!(estimate.is_some_and(|bps| (0.8e6..4e6).contains(&bps)), "{estimate:?}");
    let sums = status(Some("lc_cubic_spike")).unwrap()[0].totals.sums;
    println!("{sums:?}, {delivered} bytes, {by_reno} with reno");
    assert!(sums.wireless > 2 * sums.congestion, "{sums:?}");
    assert!(sums.avoided > 10, "{sums:?}");
    assert!(2 * delivered > 3 * by_reno, "{delivered} and {by_reno} bytes");
}

#[test]
fn a_dry_run_judges_and_has_the_window_of_its_base() {
    let Some(_one) = fit() else { return };
    let mut settings = Algorithm::find("lc_spike").unwrap().settings();
    // alpha = 2 calls every loss wireless whose round-trip time is known.
    settings.set("alpha=2").unwrap();
    settings.set_dry_run(true);
    let _loaded = Loaded(load(&settings, &Options::default()).unwrap().name);
    let link = Link::new(50);
    let transfer = link.start("lc_spike");
    link.wait_for_delivery(1_000_000);
    let mut statuses = status(Some("lc_spike")).unwrap();
    transfer.stop();
    assert!(statuses[0].dry_run);
    let connection = statuses[0].connections.remove(0);
    println!("{connection:?}");
    let sums = connection.sums;
    assert!(sums.wireless > 5 && sums.avoided > 5, "{connection:?}");
    // Reno has about 9 packets there. The link and its queue hold 68.
    assert!(connection.ssthresh_pkts.is_some_and(|pkts| pkts < 34), "{connection:?}");
    // A million bytes are 690 packets, and 8 Mb in at least a second on a link of 10 Mb/s.
    assert_eq!(connection.mss_bytes, 1_448);
    assert!(connection.delivered_pkts >= 690, "{connection:?}");
    assert!((1e5..1e7).contains(&connection.rate_bps), "{connection:?}");
    assert_eq!(connection.base_estimate_bps, None, "Reno itself is at work");
}

#[test]
fn sift_keeps_the_window_for_evidence_above_its_margin() {
    let Some(_one) = fit() else { return };
    // No evidence reaches 60 dB.
    for (name, setting, margin, keeps) in
        [("lc_sift", "margin_db=60", 600, false), ("lc_cubic_sift", "margin_db=0", 0, true)]
    {
        let _loaded = Loaded::new(name, &[setting]);
        let link = Link::random(50);
        let transfer = link.start(name);
        link.wait_for_delivery(1_300_000);
        let connection = status(Some(name)).unwrap().remove(0).connections.remove(0);
        transfer.stop();
        println!("{name} {setting}: {connection:?}");
        let sums = connection.sums;
        let last = connection.last.unwrap();
        assert!(sums.wireless + sums.congestion > 5, "{name} {setting}: {connection:?}");
        assert!(last.why != Why::Rule || last.limit == margin, "{name} {setting}: {connection:?}");
        assert_eq!(
            (sums.wireless > 0, sums.avoided > 0),
            (keeps, keeps),
            "{name} {setting}: {connection:?}"
        );
    }
}

#[test]
fn with_a_cap_of_zero_every_loss_reduces_the_window() {
    let Some(_one) = fit() else { return };
    for (setting, caps) in [("max_run=0", true), ("max_share=0", false)] {
        let _loaded = Loaded::new("lc_spike", &[setting]);
        Link::new(50).transfer("lc_spike", 1_000_000);
        let sums = status(Some("lc_spike")).unwrap()[0].totals.sums;
        assert_eq!((sums.wireless, sums.avoided), (0, 0), "{setting} {sums:?}");
        let (this, other) =
            if caps { (sums.run_caps, sums.share_caps) } else { (sums.share_caps, sums.run_caps) };
        assert!(this > 0 && other == 0 && sums.reductions > 0, "{setting} {sums:?}");
    }
}

#[test]
fn a_dead_path_is_congestion_by_timeout() {
    let Some(_one) = fit() else { return };
    let _loaded = Loaded::new("lc_spike", &[]);
    let link = Link::new(0);
    let transfer = link.start("lc_spike");
    link.wait_for_delivery(500_000);
    link.cut();
    let connection = hang::wait_for("the timer has expired twice", || {
        let connections = status(Some("lc_spike")).unwrap().remove(0).connections;
        connections.into_iter().find(|connection| connection.sums.timeouts > 1)
    });
    assert_eq!(connection.sums.wireless, 0, "{connection:?}");
    assert!(
        connection.cwnd_pkts <= 2 && connection.ssthresh_pkts.is_some_and(|s| s >= 2),
        "{connection:?}"
    );
    transfer.stop();
}

#[test]
fn a_marked_packet_reduces_the_window_though_nothing_is_lost() {
    let Some(_one) = fit() else { return };
    // alpha = 2: no RTT exceeds the start of a spike, so the rule alone would call every loss
    // wireless.
    let _loaded = Loaded::new("lc_spike", &["alpha=2"]);
    Link::marking(200).transfer("lc_spike", 3_000_000);
    let sums = status(Some("lc_spike")).unwrap()[0].totals.sums;
    assert!(sums.marks > 3 && sums.reductions >= sums.marks, "{sums:?}");
}

#[test]
fn the_socket_list_shows_the_name() {
    let Some(_one) = fit() else { return };
    let _loaded = Loaded::new("lc_veno", &[]);
    let link = Link::new(0);
    let transfer = link.start("lc_veno");
    let shown = link.near(|| Command::new("ss").args(["-tin"]).output().unwrap());
    assert!(String::from_utf8_lossy(&shown.stdout).contains("lc_veno"));
    transfer.stop();
}

#[test]
fn an_ack_that_the_receiver_held_back_is_no_long_round_trip() {
    let Some(_one) = fit() else { return };
    let _loaded = Loaded::new("lc_spike", &[]);
    let link = Link::new(0);
    // A full packet alone on the path: the receiver waits 40 ms for a second one. A pushed packet
    // it would acknowledge at once, hence the flag.
    const MSG_MORE: MsgFlags = MsgFlags::from_bits_retain(0x8000);
    let connection = || status(Some("lc_spike")).unwrap().remove(0).connections.remove(0);
    let (stream, mut rtts) = link.near(move || {
        let stream = link::connect("lc_spike");
        let mut rtts = Vec::new();
        for _ in 0..60 {
            assert_eq!(send(stream.as_raw_fd(), &[0; 1_448], MSG_MORE).unwrap(), 1_448);
            std::thread::sleep(std::time::Duration::from_millis(60));
            rtts.push(connection().rtt.as_millis_f64());
        }
        (stream, rtts)
    });
    let connection = connection();
    rtts.sort_by(f64::total_cmp);
    println!("{connection:?}, {rtts:?}, the link was late by at most {} ms", link.latest_ms());
    let held = connection.srtt.as_millis_f64();
    assert!(held > link::RTT_MS + 30.0, "the receiver has held ACKs back: {connection:?}");
    // A busy machine makes round trips longer, with held ACKs and without; only a few of them by as
    // much as a held ACK.
    assert!(rtts[rtts.len() * 3 / 4] < held - 20.0, "{connection:?}, {rtts:?}");
    assert!(
        connection.rtt_max.as_millis_f64() < link::RTT_MS + 30.0 + link.latest_ms(),
        "{connection:?}"
    );
    drop(stream);
}

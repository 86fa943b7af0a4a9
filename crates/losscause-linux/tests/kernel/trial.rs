//! A congestion control for some new connections: those that pass a filter, a share of them, those
//! of a control group, and by the kernel's own means those of a route.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use losscause_linux::kernel::{Algorithm, Options, Trial, load, status, unload};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{getsockopt, setsockopt, sockopt};

use super::{Loaded, fit, hang};

const TRIED: &str = "lc_zigzag";

fn begin(filters: &[String], share: f64) -> Loaded {
    let trial = Some(Trial::new(filters, share).unwrap());
    let options = Options { trial, ..Options::default() };
    Loaded(load(&Algorithm::find(TRIED).unwrap().settings(), &options).unwrap().name)
}

fn listen(address: &str) -> (TcpListener, String) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let filter = format!("port={}", listener.local_addr().unwrap().port());
    (listener, filter)
}

fn control(stream: &TcpStream) -> String {
    let name = getsockopt(stream, sockopt::TcpCongestion).unwrap();
    name.to_str().unwrap().trim_end_matches('\0').to_owned()
}

/// The congestion controls of a new connection's ends: who connects, and who accepts.
fn controls(listener: &TcpListener) -> [String; 2] {
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let far = listener.accept().unwrap().0;
    [control(&near), control(&far)]
}

fn default() -> String {
    let name = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    name.trim().to_owned()
}

#[test]
fn a_control_is_tried_on_connections_that_pass_until_it_is_unloaded() {
    let Some(_one) = fit() else { return };
    let default = default();
    let (listener, port) = listen("127.0.0.1");
    let (other, _) = listen("127.0.0.1");
    let loaded = begin(&[port.clone(), "prefix=127.0.0.0/8".to_owned()], 1.0);
    assert_eq!(controls(&listener), [TRIED; 2]);
    assert_eq!(controls(&other), [&default; 2].map(String::clone));
    // Which control a process chooses is left to it; its peer is asked for none.
    setsockopt(&listener, sockopt::TcpCongestion, &"reno".into()).unwrap();
    assert_eq!(controls(&listener), [TRIED, "reno"]);
    setsockopt(&listener, sockopt::TcpCongestion, &default.as_str().into()).unwrap();
    let shown = status(Some(TRIED)).unwrap().remove(0);
    assert!(shown.totals.opened >= 3);
    let filters = [port.clone(), "prefix=127.0.0.0/8".to_owned()];
    assert_eq!(shown.trial, Some(Trial::new(&filters, 1.0).unwrap()));
    unload(loaded.0, false).unwrap();
    assert_eq!(controls(&listener), [&default; 2].map(String::clone));
    let elsewhere = begin(&[port, "prefix=192.0.2.0/24".to_owned()], 1.0);
    assert_eq!(controls(&listener), [&default; 2].map(String::clone));
    drop(elsewhere);
}

#[test]
fn of_connections_of_both_families_a_share_is_drawn() {
    let Some(_one) = fit() else { return };
    for address in ["127.0.0.1", "::1"] {
        let (listener, port) = listen(address);
        let _loaded = begin(&[port], 0.5);
        let tried = (0..100).flat_map(|_| controls(&listener)).filter(|one| one == TRIED).count();
        // 7 deviations of 200 fair coins.
        assert!((50..=150).contains(&tried), "{address}: {tried} of 200");
    }
}

/// A control group without processes, until this is dropped.
struct Group(PathBuf);

impl Group {
    fn new() -> Self {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2")).unwrap();
        let name = format!("losscause-{}", std::process::id());
        let folder = PathBuf::from(line.split(' ').nth(1).unwrap()).join(name);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn connections_of_other_control_groups_have_the_default() {
    let Some(_one) = fit() else { return };
    let group = Group::new();
    let folder = |path: &std::path::Path| format!("cgroup={}", path.display());
    let (listener, port) = listen("127.0.0.1");
    let empty = begin(&[port.clone(), folder(&group.0)], 1.0);
    assert_eq!(controls(&listener), [default(), default()]);
    drop(empty);
    let within = Group(group.0.join("within"));
    fs::create_dir(&within.0).unwrap();
    let ended = begin(&[folder(&within.0)], 1.0);
    let is_on = || status(Some(TRIED)).unwrap()[0].trial.is_some();
    assert!(is_on());
    drop(within);
    hang::wait_until("its only group is gone", || !is_on());
    drop(ended);
    let _both = begin(&[port, folder(&group.0), folder(group.0.parent().unwrap())], 1.0);
    assert_eq!(controls(&listener), [TRIED; 2]);
    let refused = Trial::new(&["process=nginx"], 1.0).unwrap_err().to_string();
    assert!(refused.starts_with("--only process=…: a connection is chosen before"), "{refused}");
    unload(TRIED, false).unwrap();
    let options =
        Options { trial: Some(Trial::new(&["cgroup=/proc"], 1.0).unwrap()), ..Options::default() };
    let settings = Algorithm::find(TRIED).unwrap().settings();
    let refused = load(&settings, &options).unwrap_err().to_string();
    assert!(refused.starts_with("/proc: is no control group"), "{refused}");
    assert_eq!(status(Some(TRIED)).unwrap_err().to_string(), "lc_zigzag is not loaded");
}

#[test]
fn a_route_gives_its_connections_a_control_without_a_trial() {
    let Some(_one) = fit() else { return };
    let loaded = Loaded::new(TRIED, &[]);
    // The namespace ends with the thread.
    let in_namespace = move || {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        let ip = |arguments: &str| {
            assert!(Command::new("ip").args(arguments.split(' ')).status().unwrap().success());
        };
        ip("link set lo up");
        // All addresses of the prefix are this host's.
        ip("route add local 198.51.100.0/24 dev lo congctl lc_zigzag");
        let (listener, _) = listen("198.51.100.1");
        let by_route = controls(&listener);
        ip("route change local 198.51.100.0/24 dev lo");
        let back = controls(&listener);
        ip("route change local 198.51.100.0/24 dev lo congctl lc_zigzag");
        // A route to a control that is gone has no effect.
        unload(loaded.0, true).unwrap();
        hang::wait_until("it is gone", || controls(&listener) == [&*default(); 2]);
        (by_route, back, default())
    };
    let (by_route, back, default) = thread::spawn(in_namespace).join().unwrap();
    assert_eq!(by_route, [TRIED; 2]);
    assert_eq!(back, [default.clone(), default]);
}

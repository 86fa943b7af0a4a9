//! The emulated link between two hosts of this machine, with real sockets and the kernel's TCP.
//! Needs root.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;
#[path = "common/hang.rs"]
mod hang;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use common::can_make_networks;
use losscause::{Span, Time};
use losscause_linux::emulator::{
    Clock, EmulatedLink, Header, Host, LinkReport, PEER, Path, SENDER, Sight, device_drops,
};
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered};
use losscause_sim::truth::Cause;
use losscause_sim::{
    AtEnd, ChannelSpec, CoDelSpec, DuplicationSpec, FlowId, FlowSpec, FqCoDelSpec, Lateness, Limit,
    LinkId, LinkSpec, Network, PieSpec, QueueSpec, RatePoint, RateSpec, ReorderingSpec, TraceStart,
    Traffic,
};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, sendto, socket,
};

/// What the link saw, without the packets' bytes.
#[derive(Clone, Debug)]
enum Noted {
    Came {
        at: Time,
        direction: Direction,
        bytes: u32,
        flow: u32,
        ecn: Ecn,
    },
    Delivered {
        came: Time,
        due: Time,
        late: Span,
        direction: Direction,
        payload: u32,
    },
    Lost {
        came: Time,
        at: Time,
        cause: Cause,
        direction: Direction,
    },
    /// It arrived after the packet.
    Copy,
}

impl Noted {
    fn of(sight: &Sight) -> Self {
        match *sight {
            Sight::Came { at, direction, packet } => {
                let flow = Header::of(packet).map_or(0, |header| header.flow());
                let ecn = if packet[1] & 3 == 0 { Ecn::NotCapable } else { Ecn::Capable };
                Self::Came { at, direction, bytes: packet.len() as u32, flow, ecn }
            }
            Sight::Delivered { is_copy: true, .. } => Self::Copy,
            Sight::Delivered { came, due, written, direction, packet, .. } => {
                let payload = Header::of(packet).map_or(0, |header| header.payload_bytes);
                Self::Delivered { came, due, late: written - due, direction, payload }
            }
            Sight::Lost { came, at, cause, direction, .. } => {
                Self::Lost { came, at, cause, direction }
            }
        }
    }
}

/// Two hosts and a link between them.
struct Setting {
    sender: Host,
    peer: Host,
    stop: Arc<AtomicBool>,
    link: JoinHandle<LinkReport>,
    noted: Arc<Mutex<Vec<Noted>>>,
}

impl Setting {
    fn new(network: &Network, sysctls: &[(&'static str, String)]) -> Self {
        let path = Path::new(network, FlowId(0), SEED).unwrap();
        let (sender, senders) = Host::new(SENDER, sysctls).unwrap();
        let (peer, peers) = Host::new(PEER, sysctls).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let link = EmulatedLink::new(&path, [senders, peers], Clock::start()).unwrap();
        let told = Arc::clone(&stop);
        let noted = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&noted);
        let link = thread::spawn(move || {
            link.run(&told, |sight| seen.lock().unwrap().push(Noted::of(&sight))).unwrap()
        });
        Self { sender, peer, stop, link, noted }
    }

    /// How many packets have come, and how many of them have arrived or are lost.
    fn counts(&self) -> (usize, usize) {
        let noted = self.noted.lock().unwrap();
        let came = noted.iter().filter(|noted| matches!(noted, Noted::Came { .. })).count();
        let copies = noted.iter().filter(|noted| matches!(noted, Noted::Copy)).count();
        (came, noted.len() - came - copies)
    }

    /// What the link saw, once nothing is on it.
    fn end(self) -> Vec<Noted> {
        self.report().0
    }

    /// The same, and what else the link counted.
    fn report(self) -> (Vec<Noted>, LinkReport) {
        hang::wait_until("each packet has arrived or is lost", || {
            let (came, gone) = self.counts();
            came == gone
        });
        for host in [&self.sender, &self.peer] {
            assert_eq!(host.run(|| device_drops().unwrap()).unwrap(), 0);
        }
        self.stop.store(true, Ordering::Relaxed);
        let report = self.link.join().unwrap();
        (std::mem::take(&mut self.noted.lock().unwrap()), report)
    }

    /// Sends datagrams of `bytes` on the wire and returns the numbers of those that arrive, in
    /// order of arrival.
    fn send_datagrams(&self, count: u32, bytes: usize, pause: Duration) -> Vec<u32> {
        let receiver = self.peer.run(|| UdpSocket::bind((PEER, PORT)).unwrap()).unwrap();
        // Between two looks at whether more can come.
        receiver.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let arrivals = thread::spawn(move || {
            let mut numbers = Vec::new();
            let mut buffer = [0; 2_000];
            loop {
                let is_over = told.load(Ordering::Relaxed);
                match receiver.recv(&mut buffer) {
                    Ok(payload) => {
                        assert_eq!(payload, bytes - HEADERS);
                        numbers.push(u32::from_be_bytes(buffer[..4].try_into().unwrap()));
                    }
                    Err(_) if is_over => return numbers,
                    Err(_) => {}
                }
            }
        });
        let send = move || {
            let socket = UdpSocket::bind((SENDER, 0)).unwrap();
            let mut payload = vec![0; bytes - HEADERS];
            for number in 0..count {
                payload[..4].copy_from_slice(&number.to_be_bytes());
                socket.send_to(&payload, (PEER, PORT)).unwrap();
                thread::sleep(pause);
            }
        };
        self.sender.run(send).unwrap();
        hang::wait_until("each datagram has arrived or is lost", || {
            let (came, gone) = self.counts();
            came >= count as usize && came == gone
        });
        over.store(true, Ordering::Relaxed);
        arrivals.join().unwrap()
    }

    /// Sends at least so much over TCP, and returns how many bytes arrived: all that were written,
    /// unchanged.
    fn send_stream(&self, bytes: u64) -> u64 {
        let listener = self.peer.run(|| TcpListener::bind((PEER, PORT)).unwrap()).unwrap();
        let arrived = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut data = Vec::new();
            stream.read_to_end(&mut data).unwrap();
            assert!(data.iter().enumerate().all(|(place, byte)| *byte == (place % 251) as u8));
            data.len() as u64
        });
        let send = move || {
            let mut stream = TcpStream::connect((PEER, PORT)).unwrap();
            let data: Vec<u8> = (0..251 * 64).map(|place| (place % 251) as u8).collect();
            let mut written = 0;
            while written < bytes {
                stream.write_all(&data).unwrap();
                written += data.len() as u64;
            }
            stream.shutdown(Shutdown::Write).unwrap();
            written
        };
        let written = self.sender.run(send).unwrap();
        hang::wait_until("the stream has arrived", || arrived.is_finished());
        let arrived = arrived.join().unwrap();
        assert_eq!(arrived, written);
        arrived
    }
}

const SEED: u64 = 5;
const PORT: u16 = 5001;
/// Of IPv4 and UDP, bytes.
const HEADERS: usize = 28;

fn drop_tail(packets: u32) -> QueueSpec {
    QueueSpec::DropTail { limit: Limit::Packets(packets) }
}

/// 10 Mb/s and 20 ms.
fn link(queue: QueueSpec) -> LinkSpec {
    LinkSpec::wired("air", 10_000_000, Span::from_millis(20), queue)
}

fn network(link: LinkSpec) -> Network {
    let flow = FlowSpec::new("test", &[LinkId(0)], &[], Traffic::cbr(1_000_000, 1_000));
    Network { links: vec![link], flows: vec![flow] }
}

fn delivered(noted: &[Noted]) -> Vec<(Time, Time, Span)> {
    let forward = noted.iter().filter_map(|noted| match *noted {
        Noted::Delivered { came, due, late, direction: Direction::Forward, .. } => {
            Some((came, due, late))
        }
        _ => None,
    });
    forward.collect()
}

fn lost(noted: &[Noted], why: Cause) -> usize {
    noted.iter().filter(|noted| matches!(noted, Noted::Lost { cause, .. } if *cause == why)).count()
}

#[test]
fn a_packet_on_an_idle_link_takes_transmission_and_delay() {
    if !can_make_networks() {
        return;
    }
    let setting = Setting::new(&network(link(drop_tail(50))), &[]);
    let arrived = setting.send_datagrams(200, 1_250, Duration::from_millis(3));
    let noted = setting.end();
    assert_eq!(arrived, (0..200).collect::<Vec<_>>());
    let delivered = delivered(&noted);
    assert_eq!(delivered.len(), 200);
    // 1250 bytes take 1 ms at 10 Mb/s, as soon as the packet before has left; a busy machine may
    // bring packets together.
    let mut left = Time::ZERO;
    for (came, due, _) in &delivered {
        left = left.max(*came) + Span::from_millis(1);
        assert_eq!(*due, left + Span::from_millis(20));
    }
    let mut late: Vec<Span> = delivered.iter().map(|(.., late)| *late).collect();
    late.sort();
    assert!(late[0] >= Span::ZERO, "nothing is early");
    // As late as this thread's own pauses at most: 3 ms, and what a busy machine makes of them.
    let mut pauses: Vec<Span> = delivered.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    pauses.sort();
    assert!(late[100] < pauses[100], "late by {}, with pauses of {}", late[100], pauses[100]);
}

#[test]
fn what_arrives_is_what_was_sent_without_what_the_link_lost() {
    if !can_make_networks() {
        return;
    }
    let channel = ChannelSpec::Bernoulli { loss: 0.1 };
    let setting = Setting::new(&network(LinkSpec { channel, ..link(drop_tail(5)) }), &[]);
    let arrived = setting.send_datagrams(600, 1_250, Duration::from_micros(600));
    let noted = setting.end();
    let congestion = lost(&noted, Cause::Congestion);
    let wireless = lost(&noted, Cause::Wireless);
    assert_eq!(arrived.len() + congestion + wireless, 600);
    assert_eq!(delivered(&noted).len(), arrived.len());
    assert!(arrived.is_sorted() && wireless > 10, "{congestion} {wireless}");
    // The numbers that are missing are those of the packets that were lost, in the order in which
    // they came.
    let came: Vec<Time> = noted
        .iter()
        .filter_map(|noted| if let Noted::Came { at, .. } = noted { Some(*at) } else { None })
        .collect();
    let mut missing: Vec<Time> = noted
        .iter()
        .filter_map(|noted| if let Noted::Lost { came, .. } = noted { Some(*came) } else { None })
        .collect();
    missing.sort();
    let expected: Vec<Time> = (0..600)
        .filter(|number| arrived.binary_search(number).is_err())
        .map(|number| came[number as usize])
        .collect();
    assert_eq!(missing, expected);
}

/// Sends an IPv4 header with another first byte from the calling thread's device.
fn send_header(first: u8, to: Ipv4Addr) {
    let mut header = [0; 20];
    header[0] = first;
    header[3] = 20;
    header[16..].copy_from_slice(&to.octets());
    let protocol = Some(SockProtocol::Raw);
    let socket =
        socket(AddressFamily::Inet, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol).unwrap();
    let to = SockaddrIn::from(SocketAddrV4::new(to, 0));
    sendto(socket.as_raw_fd(), &header, &to, MsgFlags::empty()).unwrap();
}

#[test]
fn a_frame_that_is_not_ip_is_dropped_and_counted() {
    if !can_make_networks() {
        return;
    }
    let setting = Setting::new(&network(link(drop_tail(50))), &[]);
    for version in [0x05, 0x55, 0xf5] {
        setting.sender.run(move || send_header(version, PEER)).unwrap();
    }
    setting.peer.run(|| send_header(0x05, SENDER)).unwrap();
    let arrived = setting.send_datagrams(3, 100, Duration::ZERO);
    let (noted, report) = setting.report();
    assert_eq!(arrived, [0, 1, 2]);
    assert_eq!(report.not_ip, [3, 1]);
    assert_eq!(delivered(&noted).len(), 3);
}

#[test]
fn the_kernels_packets_meet_the_fate_of_a_replay_on_every_link() {
    if !can_make_networks() {
        return;
    }
    let codel = CoDelSpec::new(Limit::Packets(100));
    let points = [(300, 2_000_000), (600, 20_000_000)]
        .map(|(ms, rate_bps)| RatePoint { at: Span::from_millis(ms), rate_bps });
    let steps = RateSpec::Steps { points: points.into(), at_end: AtEnd::Repeat };
    let opportunities: Vec<Span> = (1..=20).map(|ms| Span::from_millis(ms + ms / 7)).collect();
    let opportunities = RateSpec::Opportunities { at: opportunities.into(), bytes: 1_504 };
    // 1 to 40 packets apart, in groups, as a fading channel loses them.
    let faded: Vec<bool> = (0..400).map(|slot| slot % 97 < 3 || slot % 41 == 0).collect();
    let faded = ChannelSpec::Trace { lost: faded.into(), start: TraceStart::Drawn };
    let bursts = ChannelSpec::GilbertElliott { loss: 0.02, mean_burst_packets: 2.0 };
    let of = |queue: QueueSpec| link(queue);
    // A second or two.
    const MUCH: u64 = 1_000_000;
    let links = [
        ("drop-tail", MUCH, of(drop_tail(30))),
        ("codel", MUCH, of(QueueSpec::CoDel(codel))),
        (
            "fq-codel",
            MUCH,
            of(QueueSpec::FqCoDel(FqCoDelSpec { codel, ..FqCoDelSpec::new(Limit::Packets(100)) })),
        ),
        ("pie", MUCH, of(QueueSpec::Pie(PieSpec::new(Limit::Packets(100))))),
        ("gilbert-elliott", 400_000, LinkSpec { channel: bursts, ..of(drop_tail(30)) }),
        ("fading pattern", 200_000, LinkSpec { channel: faded, ..of(drop_tail(30)) }),
        ("rate steps", MUCH, LinkSpec { rate: steps, ..of(drop_tail(30)) }),
        ("opportunities", MUCH, LinkSpec { rate: opportunities, ..of(drop_tail(30)) }),
    ];
    for (name, bytes, spec) in links {
        let network = network(spec);
        let setting = Setting::new(&network, &[("tcp_congestion_control", "reno".to_owned())]);
        let bytes = setting.send_stream(bytes);
        let noted = setting.end();
        // Data was acknowledged, so it was delivered.
        let payload: u64 = noted
            .iter()
            .map(|noted| match noted {
                Noted::Delivered { direction: Direction::Forward, payload, .. } => {
                    u64::from(*payload)
                }
                _ => 0,
            })
            .sum();
        assert!(payload >= bytes, "{name}: {payload} of {bytes}");
        assert_replay_agrees(name, &network, &noted);
    }
}

/// The same packets at the same instants over the same links, without a clock.
fn assert_replay_agrees(name: &str, network: &Network, noted: &[Noted]) {
    let mut mirrored = network.clone();
    let back = mirrored.links[0].mirrored("air.back");
    mirrored.links.push(back);
    mirrored.flows[0].return_path = vec![LinkId(1)];
    let mut path = LivePath::new(&mirrored, FlowId(0), SEED).unwrap();
    let mut seen = BTreeMap::new();
    for noted in noted {
        match *noted {
            Noted::Came { at, direction, bytes, flow, ecn } => {
                let offered =
                    Offered { content: (), wire_bytes: bytes, flow, ecn, wireless_immune: false };
                path.enter(at, direction, offered);
            }
            Noted::Delivered { came, due, direction, .. } => {
                assert_eq!(seen.insert((came, direction), (due, None)), None);
            }
            Noted::Lost { came, at, cause, direction } => {
                assert_eq!(seen.insert((came, direction), (at, Some(cause))), None);
            }
            Noted::Copy => {}
        }
    }
    let mut replayed = BTreeMap::new();
    while let Some(passed) = path.poll(Time::MAX) {
        if passed.is_copy {
            continue;
        }
        let cause = match passed.fate {
            Fate::Delivered { .. } => None,
            Fate::Lost { cause, .. } => Some(cause),
        };
        replayed.insert((passed.entered, passed.direction), (passed.at, cause));
    }
    // What was on its way at the end has no fate yet.
    replayed.retain(|packet, _| seen.contains_key(packet));
    assert!(seen.len() > 100, "{name}: {}", seen.len());
    let first = seen.iter().zip(&replayed).find(|(seen, replayed)| seen != replayed);
    assert_eq!(first, None, "{name}");
    assert_eq!(seen.len(), replayed.len(), "{name}");
}

#[test]
fn a_mark_reaches_the_kernel_with_a_valid_checksum() {
    if !can_make_networks() {
        return;
    }
    let codel = CoDelSpec { ecn: true, ..CoDelSpec::new(Limit::Packets(1_000)) };
    let sysctls = [("tcp_ecn", "1".to_owned()), ("tcp_congestion_control", "reno".to_owned())];
    let setting = Setting::new(&network(link(QueueSpec::CoDel(codel))), &sysctls);
    setting.send_stream(1_500_000);
    let marked = setting
        .peer
        .run(|| counter("/proc/thread-self/net/netstat", "IpExt:", "InCEPkts"))
        .unwrap();
    let bad =
        setting.peer.run(|| counter("/proc/thread-self/net/snmp", "Ip:", "InHdrErrors")).unwrap();
    let noted = setting.end();
    assert!(marked > 0 && bad == 0, "{marked} marks, {bad} bad headers");
    assert_eq!(lost(&noted, Cause::Congestion), 0, "what can be marked is not dropped");
}

/// A counter of the kernel, in a table of two lines: names, values.
fn counter(file: &str, group: &str, name: &str) -> u64 {
    let table = fs::read_to_string(file).unwrap();
    let mut lines = table.lines().filter(|line| line.starts_with(group));
    let names = lines.next().unwrap();
    let values = lines.next().unwrap();
    let place = names.split_whitespace().position(|word| word == name).unwrap();
    values.split_whitespace().nth(place).unwrap().parse().unwrap()
}

#[test]
fn packets_that_are_held_back_are_overtaken_and_none_is_lost() {
    if !can_make_networks() {
        return;
    }
    let by = Lateness::Time { most: Span::from_millis(10), drawn: true };
    let reordering = Some(ReorderingSpec { share: 0.2, by });
    let network = network(LinkSpec { reordering, ..link(drop_tail(1_000)) });
    let setting = Setting::new(&network, &[]);
    let mut arrived = setting.send_datagrams(300, 1_250, Duration::from_micros(500));
    let noted = setting.end();
    assert!(!arrived.is_sorted());
    arrived.sort_unstable();
    assert_eq!(arrived, (0..300).collect::<Vec<_>>());
    assert_eq!(delivered(&noted).len(), 300);
    assert_replay_agrees("reordering", &network, &noted);
}

#[test]
fn each_packet_that_the_link_doubles_arrives_twice() {
    if !can_make_networks() {
        return;
    }
    let delay = Span::from_millis(1);
    let duplication = Some(DuplicationSpec { share: 0.2, delay });
    let network = network(LinkSpec { duplication, ..link(drop_tail(1_000)) });
    let setting = Setting::new(&network, &[]);
    let mut arrived = setting.send_datagrams(300, 1_250, Duration::from_micros(500));
    let noted = setting.end();
    assert_eq!(delivered(&noted).len(), 300);
    let copies = noted.iter().filter(|noted| matches!(noted, Noted::Copy)).count();
    assert_eq!(arrived.len(), 300 + copies);
    // Five standard errors of a share of 0.2.
    assert!((60 - 35..=60 + 35).contains(&copies), "{copies}");
    arrived.sort_unstable();
    arrived.dedup();
    assert_eq!(arrived, (0..300).collect::<Vec<_>>());
    assert_replay_agrees("duplication", &network, &noted);
}

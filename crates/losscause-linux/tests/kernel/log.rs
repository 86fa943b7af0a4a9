//! The log of judgements, against the emulator's log of drops.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use losscause::Span;
use losscause_linux::emulator::{Clock, EmulatedLink, Header, Host, PEER, Path, SENDER, Sight};
use losscause_linux::kernel::{KernelError, Sums, VerdictLog, VerdictRecord, Why, status};
use losscause_sim::live::Direction;
use losscause_sim::truth::Cause;
use losscause_sim::{
    ChannelSpec, FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, Traffic,
};
use nix::sys::socket::{setsockopt, sockopt};

use super::{Loaded, fit};

const PORT: u16 = 5001;

/// A transfer of `pieces` of 16 KiB over 10 Mb/s and 40 ms whose channel corrupts every 50th
/// packet, and whose queue is never full. Returns the sequence numbers of the packets that the
/// channel corrupted.
fn transfer(algorithm: &'static str, pieces: usize) -> BTreeSet<u32> {
    let queue = QueueSpec::DropTail { limit: Limit::Packets(10_000) };
    let channel = ChannelSpec::Bernoulli { loss: 0.02 };
    let link =
        LinkSpec { channel, ..LinkSpec::wired("air", 10_000_000, Span::from_millis(20), queue) };
    let flow = FlowSpec::new("test", &[LinkId(0)], &[], Traffic::cbr(1_000_000, 1_000));
    let path = Path::new(&Network { links: vec![link], flows: vec![flow] }, FlowId(0), 1).unwrap();
    let (sender, senders_device) = Host::new(SENDER, &[]).unwrap();
    let (peer, peers_device) = Host::new(PEER, &[]).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let link = EmulatedLink::new(&path, [senders_device, peers_device], Clock::start()).unwrap();
    let told = Arc::clone(&stop);
    let link = thread::spawn(move || {
        let mut lost = BTreeSet::new();
        let note = |sight: Sight<'_>| {
            if let Sight::Lost { cause, direction: Direction::Forward, packet, .. } = sight {
                assert_eq!(cause, Cause::Wireless);
                lost.insert(Header::of(packet).unwrap().seq.unwrap());
            }
        };
        link.run(&told, note).unwrap();
        lost
    });
    let listener = peer.run(|| TcpListener::bind((PEER, PORT)).unwrap()).unwrap();
    let arrived =
        thread::spawn(move || listener.accept().unwrap().0.read_to_end(&mut Vec::new()).unwrap());
    let send = move || {
        let mut stream = TcpStream::connect((PEER, PORT)).unwrap();
        setsockopt(&stream, sockopt::TcpCongestion, &algorithm.into()).unwrap();
        for _ in 0..pieces {
            stream.write_all(&[0; 16_384]).unwrap();
        }
        stream.shutdown(Shutdown::Write).unwrap();
    };
    sender.run(send).unwrap();
    assert_eq!(arrived.join().unwrap(), pieces * 16_384);
    stop.store(true, Ordering::Relaxed);
    link.join().unwrap()
}

/// The sums of the records, as the totals count them: a timeout turns losses from wireless to
/// congestion.
fn sums(records: &[VerdictRecord]) -> Sums {
    let mut sums = Sums::default();
    for record in records {
        let packets = u64::from(record.packets);
        match (record.judged.why, record.judged.verdict) {
            (Why::Timeout, _) => {
                sums.wireless -= packets;
                sums.congestion += packets;
            }
            (_, "wireless") => sums.wireless += packets,
            (_, "congestion") => sums.congestion += packets,
            _ => sums.undecided += packets,
        }
    }
    sums
}

#[test]
fn every_number_in_the_log_is_of_a_packet_that_the_link_lost() {
    let Some(_one) = fit() else { return };
    let _loaded = Loaded::new("lc_spike", &[]);
    let mut log = VerdictLog::open("lc_spike").unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&over);
    let reader = thread::spawn(move || {
        let mut records = Vec::new();
        while !told.load(Ordering::Relaxed) {
            records.extend(log.wait(Duration::from_millis(50)).unwrap());
        }
        records.extend(log.wait(Duration::ZERO).unwrap());
        assert_eq!(log.dropped().unwrap(), 0);
        records
    });
    let lost = transfer("lc_spike", 360);
    over.store(true, Ordering::Relaxed);
    let records = reader.join().unwrap();
    let totals = status(Some("lc_spike")).unwrap()[0].totals.sums;
    let logged = sums(&records);
    println!("{logged:?}, {} packets lost at least once", lost.len());
    assert_eq!(
        (logged.wireless, logged.congestion, logged.undecided),
        (totals.wireless, totals.congestion, totals.undecided)
    );
    let mut named = BTreeSet::new();
    for record in &records {
        assert_eq!((record.local.ip(), record.remote.ip()), (SENDER.into(), PEER.into()));
        assert_eq!(record.remote.port(), PORT);
        // Full segments: 1500 bytes without 40 of headers and 12 of timestamps.
        named.extend(
            record
                .seq
                .iter()
                .flat_map(|seq| (0..record.packets).map(|n| seq.wrapping_add(n * 1_448))),
        );
    }
    let invented: Vec<&u32> = named.difference(&lost).collect();
    assert!(invented.is_empty(), "{invented:?} were not lost: {records:?}");
    // The rest: the handshake, the tail, and what a timeout repaired.
    println!("{} of them named", named.len());
    assert!(
        lost.len() > 50 && 10 * named.len() > 9 * lost.len(),
        "{} of {}",
        named.len(),
        lost.len()
    );
}

#[test]
fn nothing_is_logged_without_a_reader_and_there_is_only_one() {
    let Some(_one) = fit() else { return };
    let not_loaded = VerdictLog::open("lc_zbs").err().unwrap();
    assert_eq!(not_loaded.to_string(), "lc_zbs is not loaded");
    let _loaded = Loaded::new("lc_zbs", &[]);
    let first = VerdictLog::open("lc_zbs").unwrap();
    let second = VerdictLog::open("lc_zbs").err().unwrap();
    assert!(matches!(second, KernelError::LogInUse { name: "lc_zbs" }), "{second}");
    drop(first);
    transfer("lc_zbs", 60);
    let judged = status(Some("lc_zbs")).unwrap()[0].totals.sums;
    assert!(judged.wireless + judged.congestion + judged.undecided > 0);
    let mut log = VerdictLog::open("lc_zbs").unwrap();
    assert_eq!(log.wait(Duration::ZERO).unwrap(), []);
    assert_eq!(log.dropped().unwrap(), 0);
}

//! Both ends on real sockets, on this machine's loopback.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use losscause::Span;
use losscause_media::net::{NetError, Receiving, Sending, fresh_key};
use losscause_media::{End, Event, Key, Media, PushError, ReceiverConfig, Reorder, SenderConfig};
use tokio::time::timeout;

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// Only one test at a time: the port that one has left may be given to another, which then gets its
/// late packets.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The bound only ends a test that hangs; a busy machine takes its time.
fn run(test: impl Future<Output = ()>) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    runtime
        .block_on(async { timeout(Duration::from_secs(180), test).await.expect("the test hangs") });
}

fn packets(count: u64, bytes: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|number| number.to_be_bytes().into_iter().cycle().take(bytes).collect())
        .collect()
}

#[test]
fn a_stream_arrives_whole_and_both_ends_agree() {
    run(async {
        let key = fresh_key().unwrap();
        let mut receiving =
            Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let config = SenderConfig { max_rate_bps: 20_000_000, ..SenderConfig::default() };
        let sending = Sending::start(receiving.address(), &config, &key).await.unwrap();
        let sent = packets(2000, sending.media_bytes());
        let begun = Instant::now();
        let mut watch = sending.watch();
        let quickest = async {
            let mut quickest: Option<Span> = None;
            while watch.changed().await.is_ok() {
                let rtt = watch.borrow().rtt;
                quickest = quickest.into_iter().chain(rtt).min();
            }
            quickest
        };
        let feed = async {
            for payload in &sent {
                sending.send(Media { payload: payload.clone(), ..Media::default() }).await.unwrap();
            }
            sending.finish().await.unwrap()
        };
        let read = async {
            let mut order = Reorder::default();
            let mut received = Vec::new();
            loop {
                match receiving.event().await.unwrap() {
                    Event::Packet(packet) => {
                        order.push(packet.seq, packet.payload);
                        received.extend(std::iter::from_fn(|| order.pop()));
                    }
                    Event::Ended(end) => break (end, received),
                    Event::Started { .. } | Event::Gap(_) => {}
                }
            }
        };
        let ((end, stats), (receivers_end, received), quickest) =
            tokio::join!(feed, read, quickest);
        let lasted = begun.elapsed();
        let receiver = receiving.close().await.unwrap();
        assert_eq!((end, receivers_end), (End::Finished, End::Finished));
        assert_eq!((stats.sent_pkts, receiver.sent_pkts), (2000, Some(2000)));
        assert_eq!(stats.received_pkts, receiver.received_pkts);
        assert_eq!(
            (stats.contradicting_reports, stats.foreign_pkts, receiver.foreign_pkts),
            (0, 0, 0)
        );
        // Loopback loses only if this machine is very busy; what arrived is unchanged.
        assert!(received.len() > 1900, "{} of 2000 packets", received.len());
        assert!(received.iter().all(|payload| sent.contains(payload)));
        // At the largest rate, the packets alone take 960 ms.
        assert!(
            quickest.is_some_and(|rtt| rtt * 5 < Span::from_nanos(lasted.as_nanos() as i64)),
            "{quickest:?}"
        );
        assert!(stats.rtt.is_some());
    });
}

#[test]
fn the_largest_rate_holds_on_a_path_of_gigabits_and_is_reached() {
    run(async {
        let key = fresh_key().unwrap();
        let receiving =
            Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let mut receiving = receiving;
        let config = SenderConfig { max_rate_bps: 4_000_000, ..SenderConfig::default() };
        let sending = Sending::start(receiving.address(), &config, &key).await.unwrap();
        let drain = tokio::spawn(async move {
            while receiving.event().await.is_some_and(|event| !matches!(event, Event::Ended(_))) {}
            receiving.close().await.unwrap()
        });
        let feed = async {
            loop {
                let payload = vec![1; sending.media_bytes()];
                if sending.send(Media { payload, ..Media::default() }).await.is_err() {
                    break;
                }
            }
        };
        // Stretches of 100 packets: at the largest rate, 4 Mb/s, a packet of 1200 bytes takes 2.4
        // ms.
        let measured = async {
            // The rate begins with one packet per second and doubles each round-trip time.
            let mut watch = sending.watch();
            watch.wait_for(|stats| stats.rate_bps == 4e6).await.unwrap();
            let begun = Instant::now();
            let first = sending.stats().sent_pkts;
            let mut fastest = 0.0_f64;
            for stretch in 1.. {
                let from = Instant::now();
                let before = sending.stats().sent_pkts;
                let now = watch
                    .wait_for(|stats| stats.sent_pkts >= before + 100)
                    .await
                    .unwrap()
                    .sent_pkts;
                let of_largest = |packets: u64, since: Instant| {
                    packets as f64 * 2.4e-3 / since.elapsed().as_secs_f64()
                };
                fastest = fastest.max(of_largest(now - before, from));
                // The packets of 10 ms may be sent late and at once, and those of the moment are
                // not counted yet.
                let least = (now - first).saturating_sub(10);
                assert!(
                    of_largest(least, begun) <= 1.0,
                    "{} packets in {:?}",
                    now - first,
                    begun.elapsed()
                );
                // A busy machine holds up some stretches, a timer that is too coarse holds up all
                // of them.
                if stretch >= 10 && fastest > 0.8 {
                    break;
                }
            }
        };
        tokio::select! {
            () = feed => panic!("the stream has ended"),
            () = measured => {}
        }
        let (end, _) = sending.stop().await.unwrap();
        drain.await.unwrap();
        assert_eq!(end, End::Stopped);
    });
}

#[test]
fn with_another_key_nothing_starts() {
    run(async {
        let receiving =
            Receiving::bind(loopback(), &ReceiverConfig::default(), &fresh_key().unwrap())
                .await
                .unwrap();
        let config = SenderConfig { patience: Span::from_secs(1), ..SenderConfig::default() };
        let sending =
            Sending::start(receiving.address(), &config, &fresh_key().unwrap()).await.unwrap();
        let (end, stats) = sending.finish().await.unwrap();
        assert_eq!((end, stats.sent_pkts), (End::NoAnswer, 0));
        let stats = receiving.close().await.unwrap();
        assert!(stats.foreign_pkts > 0 && stats.received_pkts == 0);
    });
}

#[test]
fn the_receiver_can_end_the_stream_and_its_absence_is_noticed() {
    run(async {
        let key = Key::from_bytes([1; 32]);
        let mut receiving =
            Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let config = SenderConfig::default();
        let sending = Sending::start(receiving.address(), &config, &key).await.unwrap();
        sending.send_frame(&[7; 3000], 96, Some(9000)).await.unwrap();
        let mut frame = Vec::new();
        loop {
            match receiving.event().await.unwrap() {
                Event::Packet(packet) => {
                    assert_eq!((packet.payload_type, packet.media_time), (96, 9000));
                    frame.extend(packet.payload);
                    if packet.marker {
                        break;
                    }
                }
                event => assert!(matches!(event, Event::Started { .. }), "{event:?}"),
            }
        }
        assert_eq!(frame, [7; 3000]);
        receiving.close().await.unwrap();
        let (end, _) = sending.finish().await.unwrap();
        assert_eq!(end, End::PeerStopped);

        let receiving =
            Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let sending = Sending::start(receiving.address(), &config, &key).await.unwrap();
        sending.send(Media { payload: vec![1], ..Media::default() }).await.unwrap();
        let mut watch = sending.watch();
        watch.wait_for(|stats| stats.reports > 0).await.unwrap();
        // A runtime that ends takes its sockets with it, without a word.
        drop(receiving);
        // The stream ends, and its figures with it, though this end would go on.
        while watch.changed().await.is_ok() {}
        let (end, _) = sending.finish().await.unwrap();
        assert_eq!(end, End::PeerStopped, "a dropped receiver says goodbye");
    });
}

#[test]
fn bad_addresses_and_too_large_packets_are_refused_in_sentences() {
    run(async {
        let key = fresh_key().unwrap();
        let taken = Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let error =
            Receiving::bind(taken.address(), &ReceiverConfig::default(), &key).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{}: is in use by another program, expected a free port", taken.address())
        );
        let nowhere: SocketAddr = "192.0.2.1:5004".parse().unwrap();
        let error = Receiving::bind(nowhere, &ReceiverConfig::default(), &key).await.unwrap_err();
        assert_eq!(error.to_string(), "192.0.2.1:5004: is no address of this machine");
        let config = SenderConfig { packet_bytes: 100, ..SenderConfig::default() };
        let error = Sending::start(taken.address(), &config, &key).await.unwrap_err();
        assert!(matches!(error, NetError::Config(_)), "{error}");
        let sending =
            Sending::start(taken.address(), &SenderConfig::default(), &key).await.unwrap();
        let too_large = Media { payload: vec![0; 1149], ..Media::default() };
        assert_eq!(
            sending.send(too_large).await,
            Err(PushError::TooLarge { bytes: 1149, most: 1148 })
        );
    });
}

//! Both ends on real sockets, on this machine's loopback.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use losscause::Span;
use losscause_media::net::{NetError, Receiving, Sending, fresh_key};
use losscause_media::{End, Event, Key, Media, PushError, ReceiverConfig, Reorder, SenderConfig};
use tokio::time::timeout;

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// Only one test at a time: the port that one has left may be given to another, which then gets its late packets.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn run(test: impl Future<Output = ()>) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    runtime.block_on(async { timeout(Duration::from_secs(60), test).await.expect("the test hangs") });
}

fn packets(count: u64, bytes: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| number.to_be_bytes().into_iter().cycle().take(bytes).collect()).collect()
}

#[test]
fn a_stream_arrives_whole_and_both_ends_agree() {
    run(async {
        let key = fresh_key().unwrap();
        let mut receiving = Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let config = SenderConfig { max_rate_bps: 20_000_000, ..SenderConfig::default() };
        let sending = Sending::start(receiving.address(), &config, &key).await.unwrap();
        let sent = packets(2000, sending.media_bytes());
        let feed = async {
            for payload in &sent {
                sending.send(Media { payload: payload.clone(), ..Media::default() }).await.unwrap();
            }
            sending.finish().await.unwrap()
        };
        let read = async {
            let (mut order, mut received) = (Reorder::default(), Vec::new());
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
        let ((end, stats), (receivers_end, received)) = tokio::join!(feed, read);
        let receiver = receiving.close().await.unwrap();
        assert_eq!((end, receivers_end), (End::Finished, End::Finished));
        assert_eq!((stats.sent_pkts, receiver.sent_pkts), (2000, Some(2000)));
        assert_eq!(stats.received_pkts, receiver.received_pkts);
        assert_eq!((stats.contradicting_reports, stats.foreign_pkts, receiver.foreign_pkts), (0, 0, 0));
        // Loopback loses only if this machine is very busy; what arrived is unchanged.
        assert!(received.len() > 1900, "{} of 2000 packets", received.len());
        assert!(received.iter().all(|payload| sent.contains(payload)));
        assert!(stats.rtt.is_some_and(|rtt| rtt < Span::from_millis(200)), "{:?}", stats.rtt);
    });
}

#[test]
fn the_largest_rate_holds_on_a_path_of_gigabits_and_is_reached() {
    run(async {
        let key = fresh_key().unwrap();
        let receiving = Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
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
        // The rate begins with one packet per second and doubles each round-trip time.
        assert!(timeout(Duration::from_secs(3), feed).await.is_err());
        let before = sending.stats().sent_pkts;
        let feed = async {
            loop {
                let payload = vec![1; sending.media_bytes()];
                sending.send(Media { payload, ..Media::default() }).await.unwrap();
            }
        };
        let _: Result<(), _> = timeout(Duration::from_secs(3), feed).await;
        let sent = sending.stats().sent_pkts - before;
        let (end, _) = sending.stop().await.unwrap();
        drain.await.unwrap();
        assert_eq!(end, End::Stopped);
        // 4 Mb/s are 416.7 packets of 1200 bytes per second; timers are exact to a millisecond, and the machine is busy.
        assert!((800..=1300).contains(&sent), "{sent} packets in 3 s");
    });
}

#[test]
fn with_another_key_nothing_starts() {
    run(async {
        let receiving = Receiving::bind(loopback(), &ReceiverConfig::default(), &fresh_key().unwrap()).await.unwrap();
        let config = SenderConfig { patience: Span::from_secs(1), ..SenderConfig::default() };
        let sending = Sending::start(receiving.address(), &config, &fresh_key().unwrap()).await.unwrap();
        let (end, stats) = sending.finish().await.unwrap();
        assert_eq!((end, stats.sent_pkts), (End::NoAnswer, 0));
        let stats = receiving.close().await.unwrap();
        assert!(stats.foreign_pkts > 0 && stats.received_pkts == 0);
    });
}

#[test]
fn the_receiver_can_end_the_stream_and_a_receiver_that_is_gone_is_noticed() {
    run(async {
        let key = Key::from_bytes([1; 32]);
        let mut receiving = Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let config = SenderConfig { patience: Span::from_secs(2), ..SenderConfig::default() };
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

        let receiving = Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let sending = Sending::start(receiving.address(), &config, &key).await.unwrap();
        sending.send(Media { payload: vec![1], ..Media::default() }).await.unwrap();
        let mut watch = sending.watch();
        watch.wait_for(|stats| stats.reports > 0).await.unwrap();
        // A runtime that ends takes its sockets with it, without a word.
        drop(receiving);
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let mut stopped = sending.watch();
        let _ = stopped.changed().await;
        let (end, _) = sending.finish().await.unwrap();
        assert_eq!(end, End::PeerStopped, "a dropped receiver says goodbye");
    });
}

#[test]
fn bad_addresses_and_packets_that_are_too_large_are_refused_with_a_sentence() {
    run(async {
        let key = fresh_key().unwrap();
        let taken = Receiving::bind(loopback(), &ReceiverConfig::default(), &key).await.unwrap();
        let error = Receiving::bind(taken.address(), &ReceiverConfig::default(), &key).await.unwrap_err();
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
        let sending = Sending::start(taken.address(), &SenderConfig::default(), &key).await.unwrap();
        let too_large = Media { payload: vec![0; 1149], ..Media::default() };
        assert_eq!(sending.send(too_large).await, Err(PushError::TooLarge { bytes: 1149, most: 1148 }));
    });
}

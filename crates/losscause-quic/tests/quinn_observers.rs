//! What observes: tracing, an observer of one's own, qlog; and quinn itself over loopback.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "quinn/mod.rs"]
mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::{Driver, MTU, Scripted, transfer};
use losscause::Verdict::{Congestion, Wireless};
use losscause::registry::Registry;
use losscause_quic::quinn::{Base, LossTolerant};
use losscause_quic::{LossVerdict, on_verdict};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Two losses: the first is wireless, the second congestion.
fn lose_twice(factory: &LossTolerant) {
    let mut driver = Driver::new(|now| factory.controller(now, MTU));
    driver.send(20);
    driver.ack([3]);
    driver.lose(0, 1);
    driver.wait_ms(1);
    driver.ack([8]);
    driver.lose(5, 4); // 1, 2, 4 and 5
}

/// Counts the events of the verdicts' target that have every field.
struct Counter(Arc<AtomicUsize>);

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "losscause_quic::verdict"
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let fields = [
            "transport",
            "lost_pkts",
            "lost_bytes",
            "first",
            "rtt_ms",
            "verdict",
            "reason",
            "response",
            "window_after",
        ];
        let has_all = fields.iter().all(|field| event.fields().any(|known| known.name() == *field));
        self.0.fetch_add(usize::from(has_all), Ordering::Relaxed);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn every_verdict_is_one_event_of_tracing_with_its_fields() {
    let seen = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::with_default(Counter(seen.clone()), || {
        lose_twice(&Scripted::saying([Wireless, Congestion]).factory(Base::cubic()));
    });
    assert_eq!(seen.load(Ordering::Relaxed), 2);
}

#[test]
fn an_observer_sees_every_verdict_as_a_sentence() {
    let sentences = Arc::new(Mutex::new(Vec::new()));
    let kept = sentences.clone();
    let keep = move |verdict: &LossVerdict| kept.lock().unwrap().push(verdict.to_string());
    lose_twice(
        &Scripted::saying([Wireless, Congestion])
            .factory(Base::new_reno())
            .with_observer(on_verdict(keep)),
    );
    assert_eq!(
        *sentences.lock().unwrap(),
        [
            "1 packet lost (0): test: as asked: wireless; window kept (13200 bytes)",
            "4 packets lost (1 to 5): test: as asked: congestion; window reduced (6600 bytes)",
        ]
    );
}

#[test]
fn a_loopback_transfer_arrives_whole_with_every_algorithm() {
    let registry = Registry::built_in();
    for name in ["Spike", "ZBS", "Flip Flop", "always wireless"] {
        for base in Base::NAMES {
            let factory = LossTolerant::named(base.parse().unwrap(), name, &registry).unwrap();
            let monitor = factory.monitor();
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(transfer(Arc::new(factory))).unwrap();
            assert_eq!(monitor.controllers(), 1);
        }
    }
}

#[cfg(feature = "qlog")]
mod qlog {
    use std::io::{self, Write};

    use losscause_quic::QlogWriter;
    use serde_json::Value;

    use super::*;

    /// A file in memory that is still readable after the writer took it.
    #[derive(Clone, Default)]
    struct File(Arc<Mutex<Vec<u8>>>);

    impl Write for File {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn qlog_is_a_header_and_an_event_per_verdict() {
        let file = File::default();
        let writer = QlogWriter::new(file.clone(), "a \"server\"").unwrap();
        lose_twice(
            &Scripted::saying([Wireless, Congestion])
                .factory(Base::cubic())
                .with_observer(writer.clone()),
        );
        writer.flush().unwrap();
        let text = String::from_utf8(file.0.lock().unwrap().clone()).unwrap();
        let records: Vec<Value> = text
            .split_terminator('\n')
            .map(|record| serde_json::from_str(record.strip_prefix('\u{1e}').unwrap()).unwrap())
            .collect();
        assert_eq!(
            (&records[0]["qlog_format"], &records[0]["title"]),
            (&"JSON-SEQ".into(), &"a \"server\"".into())
        );
        let verdicts: Vec<_> = records[1..]
            .iter()
            .map(|event| {
                assert_eq!(event["name"], "losscause:loss_verdict");
                let data = &event["data"];
                (
                    event["time"].as_f64().unwrap(),
                    data["verdict"].as_str().unwrap(),
                    data["lost_packets"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(verdicts, [(20.0, "wireless", 1), (21.0, "congestion", 4)]);
    }

    /// Accepts the header, and fails afterwards.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_reported_at_the_flush_and_stops_nothing() {
        let writer = QlogWriter::new(Full(300), "a server").unwrap();
        lose_twice(
            &Scripted::saying([Wireless, Congestion])
                .factory(Base::cubic())
                .with_observer(writer.clone()),
        );
        assert_eq!(writer.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}

//! Connections of noq in virtual time.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "noq/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::Duration;

use common::Scripted;
use common::pair::{Fate, transfer};
use losscause::Verdict::{Congestion, Wireless};
use losscause_quic::Counts;
use losscause_quic::noq::{Base, LossTolerantController};
use noq_proto::PathId;

/// The first of the client's datagrams that surely carry data only.
const FIRST: usize = 50;

fn counts(connection: &noq_proto::Connection) -> Counts {
    let state = connection.congestion_state(PathId::ZERO).unwrap().clone_box().into_any();
    state.downcast_ref::<LossTolerantController>().expect("its own type").counts()
}

#[test]
fn every_packet_that_the_path_loses_is_judged_once() {
    let factory = Scripted::saying([Wireless; 999]).factory(Base::cubic());
    let mut lost = 0;
    let mut connection = transfer(Arc::new(factory), 2_000_000, |place, bytes| {
        // Data fills its packets; the last of them could be lost unnoticed.
        let is_lost = place >= FIRST && place % 37 < 2 && bytes >= 1200 && place < 1500;
        lost += u64::from(is_lost);
        if is_lost { Fate::Lost } else { Fate::Arrives }
    });
    let counts = counts(&connection);
    assert!(lost > 50, "{lost}");
    assert_eq!((counts.wireless, counts.congestion, counts.spurious), (lost, 0, 0), "{counts:?}");
    assert_eq!(connection.stats().lost_packets, lost);
}

#[test]
fn packets_that_come_late_are_taken_back_with_their_reductions() {
    let factory = Scripted::saying([Congestion; 999]).factory(Base::cubic());
    let mut late = 0;
    let connection = transfer(Arc::new(factory), 2_000_000, |place, bytes| {
        // 10 ms are ten datagrams: more than the three after which QUIC declares a loss.
        let is_late = place >= FIRST && place % 200 == 0 && bytes >= 1200 && place < 1500;
        late += u64::from(is_late);
        if is_late { Fate::Late(Duration::from_millis(10)) } else { Fate::Arrives }
    });
    let counts = counts(&connection);
    assert!(late > 3, "{late}");
    assert_eq!((counts.congestion, counts.spurious), (late, late), "{counts:?}");
    assert_eq!(counts.restored, counts.reductions, "{counts:?}");
}

#[test]
fn a_mark_of_the_path_is_congestion() {
    let factory = Scripted::saying([]).factory(Base::cubic());
    let connection = transfer(Arc::new(factory), 500_000, |place, _| {
        if place == 100 { Fate::Marked } else { Fate::Arrives }
    });
    let counts = counts(&connection);
    assert_eq!((counts.marks, counts.reductions, counts.congestion), (1, 1, 0), "{counts:?}");
}

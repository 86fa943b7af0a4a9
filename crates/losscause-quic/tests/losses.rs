//! What happens to a loss, without a transport.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::sync::{Arc, Mutex};

use common::{Connection, NO_CAPS, Scripted, at};
use losscause::Verdict::{Congestion, Undecided, Wireless};
use losscause::{Judgement, Loss, Numbers, Observation, Observer, Recovery, Safeguards, Signal};
use losscause_quic::{
    Caps, ControllerObserver, LossVerdict, Overruled, Response, Undone, on_verdict,
};

fn last(connection: &Connection) -> &LossVerdict {
    connection.losses.last_verdicts().last().expect("a verdict")
}

#[test]
fn the_base_hears_of_all_losses_but_the_wireless_ones() {
    let mut connection =
        Connection::with_ten_acked(&Scripted::saying([Wireless, Congestion, Undecided]).choice());
    assert_eq!(connection.lose(60, [10]), Response::Kept);
    assert_eq!((connection.base.window, connection.base.told), (64_000, 0));
    assert_eq!(connection.lose(60, [11, 12]), Response::Reduced);
    assert_eq!(connection.lose(60, [13]), Response::Reduced);
    assert_eq!((connection.base.window, connection.base.told), (16_000, 2));
    let counts = connection.losses.counts();
    assert_eq!(
        (counts.wireless, counts.congestion, counts.undecided, counts.reductions),
        (1, 2, 1, 2)
    );
}

#[test]
fn what_the_window_grew_by_while_losses_were_ignored_waits_for_the_end_of_their_recovery() {
    let grown = |verdicts: [_; 2], can_restore| {
        let mut connection = Connection::with_ten_acked(&Scripted::saying(verdicts).choice());
        connection.base.can_restore = can_restore;
        assert_eq!(connection.lose(60, [10]), Response::Kept);
        connection.base.window = 96_000;
        assert_eq!(connection.losses.window(&connection.base), 64_000);
        connection.lose(61, [12]);
        connection
    };
    // The whole recovery is congestion: half of what the window was at its first loss.
    assert_eq!(grown([Wireless, Congestion], true).base.window, 32_000);
    assert_eq!(last(&grown([Wireless, Congestion], true)).window_before, 64_000);
    assert_eq!(grown([Wireless, Congestion], false).base.window, 48_000, "it cannot be put back");
    let mut connection = grown([Wireless, Wireless], true);
    assert_eq!(connection.losses.window(&connection.base), 64_000);
    connection.send(1);
    connection.ack(151, (11..=100).filter(|number| *number != 12));
    assert_eq!(connection.losses.window(&connection.base), 96_000, "the recovery has ended");
}

#[test]
fn a_base_that_keeps_its_window_had_reduced_it_already() {
    let mut connection = Connection::with_ten_acked(&Scripted::default().choice());
    connection.base.window = 1000;
    assert_eq!(connection.lose(60, [10]), Response::AlreadyReduced);
    assert_eq!((connection.base.told, connection.losses.counts().reductions), (1, 0));
}

#[test]
fn marks_and_persistent_congestion_are_congestion_unasked() {
    let scripted = Scripted::saying([Wireless; 2]);
    let mut connection = Connection::with_ten_acked(&scripted.choice());
    connection.declare(60, Signal::EcnMark, 0);
    assert_eq!(
        (last(&connection).overruled, last(&connection).lost_pkts),
        (Some(Overruled::Mark), 0)
    );
    connection.sender.on_lost(10);
    connection.declare(60, Signal::PersistentCongestion, 1000);
    assert_eq!(last(&connection).overruled, Some(Overruled::PersistentCongestion));
    assert_eq!(last(&connection).judgement, None);
    assert_eq!((connection.base.told, scripted.left()), (2, 2));
    let counts = connection.losses.counts();
    assert_eq!((counts.marks, counts.congestion, counts.wireless), (1, 1, 0));
}

#[test]
fn a_round_trip_time_is_fresh_for_a_quarter_of_itself() {
    let scripted = Scripted::saying([Wireless; 2]);
    let mut connection = Connection::with_ten_acked(&scripted.choice());
    // 50 ms, measured at 59 ms.
    assert_eq!(connection.lose(71, [10]), Response::Kept, "12 ms later");
    assert_eq!(last(&connection).rtt.unwrap().as_millis_f64(), 50.0);
    assert_eq!(connection.lose(72, [11]), Response::Reduced, "13 ms later");
    assert_eq!(
        (last(&connection).overruled, last(&connection).rtt),
        (Some(Overruled::NoFreshRtt), None)
    );
    assert_eq!((connection.losses.counts().without_rtt, scripted.left()), (1, 1));
    let mut unmeasured = Connection::new(&scripted.choice());
    unmeasured.send(10);
    unmeasured.lose(5, [1]);
    assert_eq!(last(&unmeasured).overruled, Some(Overruled::NoFreshRtt));
}

#[test]
fn forgotten_packets_are_congestion_counted_by_their_bytes() {
    let scripted = Scripted::saying([Wireless]);
    let mut connection = Connection::with_ten_acked(&scripted.choice());
    connection.declare(60, Signal::Gap, 2_500);
    let verdict = last(&connection);
    assert_eq!((verdict.overruled, verdict.numbers), (Some(Overruled::UnknownPackets), None));
    assert_eq!((verdict.lost_pkts, verdict.lost_bytes, scripted.left()), (3, 2_500, 1));
}

#[test]
fn each_cap_turns_wireless_into_congestion_and_says_so() {
    let losing = |caps: Caps, lost: &[u64]| {
        let choice = Scripted::saying([Wireless; 9]).choice().with_caps(caps).unwrap();
        let mut connection = Connection::with_ten_acked(&choice);
        for number in lost {
            connection.lose(60, [*number]);
        }
        (last(&connection).overruled, last(&connection).reason(), connection.losses.counts())
    };
    let (overruled, reason, counts) = losing(Caps { max_run: 2, ..NO_CAPS }, &[10, 11, 12]);
    assert_eq!(overruled, Some(Overruled::RunCap));
    assert_eq!(
        reason,
        "max_run is reached: congestion (the algorithm said: test: as asked: wireless)"
    );
    assert_eq!((counts.run_caps, counts.wireless, counts.congestion), (1, 2, 1));
    // 0.01 of at least 256 packets are 2.56.
    let (overruled, _, counts) = losing(Caps { max_share: 0.01, ..NO_CAPS }, &[10, 11, 12]);
    assert_eq!((overruled, counts.share_caps, counts.wireless), (Some(Overruled::ShareCap), 1, 2));
    let (overruled, _, counts) = losing(Caps { max_loss_rate: 0.01, ..NO_CAPS }, &[10, 11, 12]);
    assert_eq!((overruled, counts.rate_caps, counts.wireless), (Some(Overruled::LossRate), 1, 2));
}

const GUARDED: Caps = Caps { safeguards: Safeguards::ON, ..NO_CAPS };

#[test]
fn the_guard_reduces_where_the_link_stays_full() {
    let guarded = |caps| {
        let choice = Scripted::saying([Wireless; 9]).choice().with_caps(caps).unwrap();
        let mut connection = Connection::new(&choice);
        connection.send(500);
        // Round-trip times of 41, 41, 130 and 180 ms: a queue of at least 89 ms stands for 60 ms.
        connection.ack(50, 0..10);
        connection.ack(91, 10..51);
        connection.ack(190, 51..61);
        connection.ack(250, 61..71);
        (connection.lose(251, [71]), last(&connection).clone(), connection.losses.counts())
    };
    let (response, verdict, counts) = guarded(GUARDED);
    assert_eq!(response, Response::Reduced);
    assert_eq!(
        verdict.reason(),
        "guard: a queue of 89.0 ms stood, 1.00 of the base of 41.0 ms (41.0 ms) suffice: congestion \
         (the algorithm said: test: as asked: wireless)"
    );
    assert_eq!((counts.guarded, counts.congestion, counts.wireless), (1, 1, 0));
    let (response, verdict, _) = guarded(NO_CAPS);
    assert_eq!((response, verdict.overruled), (Response::Kept, None));
}

#[test]
fn the_brake_reduces_where_a_third_of_the_flight_is_lost() {
    // One packet of 10 is expected to be lost, so 3 * 9 + 4 of 90 are too many.
    let choice = Scripted::saying([Wireless; 9]).choice().with_caps(GUARDED).unwrap();
    let mut connection = Connection::with_ten_acked(&choice);
    assert_eq!(connection.lose(60, 10..21), Response::Kept);
    assert_eq!(connection.lose(61, 21..32), Response::Kept);
    assert_eq!(connection.lose(62, 32..43), Response::Reduced);
    assert_eq!(
        last(&connection).reason(),
        "brake: 33 of a flight of 90 lost in 3 reports, where 9.0 were expected: congestion (the \
         algorithm said: test: as asked: wireless)"
    );
    assert_eq!(connection.losses.counts().braked, 11);
}

#[test]
fn acknowledged_packets_count_as_recent() {
    // A hundredth of 400 to 406 packets is 4.
    let choice = Scripted::saying([Wireless; 9])
        .choice()
        .with_caps(Caps { max_share: 0.01, ..NO_CAPS })
        .unwrap();
    let mut connection = Connection::new(&choice);
    connection.send(500);
    connection.ack(449, 0..400);
    for number in 400..404 {
        assert_eq!(connection.lose(450, [number]), Response::Kept);
    }
    assert_eq!(connection.lose(450, [404]), Response::Reduced);
    assert_eq!(last(&connection).overruled, Some(Overruled::ShareCap));
}

#[test]
fn a_reduction_begins_a_new_run() {
    let verdicts = [Wireless, Congestion, Wireless, Wireless];
    let choice =
        Scripted::saying(verdicts).choice().with_caps(Caps { max_run: 1, ..NO_CAPS }).unwrap();
    let mut connection = Connection::with_ten_acked(&choice);
    let responses = [10, 11, 12, 13].map(|number| connection.lose(60, [number]));
    assert_eq!(responses, [Response::Kept, Response::Reduced, Response::Kept, Response::Reduced]);
    assert_eq!(last(&connection).overruled, Some(Overruled::RunCap));
}

#[test]
fn losses_after_their_recoverys_reduction_raise_no_loss_rate() {
    let choice = Scripted::saying([Congestion, Congestion, Wireless]).choice();
    // 0.1 of 256 packets are 25.6.
    let choice = choice.with_caps(Caps { max_loss_rate: 0.1, ..NO_CAPS }).unwrap();
    let mut connection = Connection::with_ten_acked(&choice);
    connection.lose(60, [10]);
    connection.lose(60, 11..60);
    assert_eq!(connection.lose(60, [60]), Response::Kept);
}

#[test]
fn a_recovery_of_wireless_losses_only_is_an_avoided_reduction() {
    let mut connection =
        Connection::with_ten_acked(&Scripted::saying([Wireless, Wireless, Congestion]).choice());
    connection.lose(60, [10]);
    connection.lose(61, [12]);
    // The recovery ends with packet 61, which was sent after its first loss.
    connection.ack(111, [60]);
    assert_eq!(connection.losses.counts().avoided, 0);
    connection.ack(112, [61]);
    assert_eq!(connection.losses.counts().avoided, 1);
    connection.lose(112, [13]);
    connection.send(20);
    connection.ack(163, [113]);
    assert_eq!(connection.losses.counts().avoided, 1, "that recovery reduced the window");
}

/// Losses 10 and 11 are congestion; the verdict is revised when packet 61 ends their recovery.
fn revised(change: impl Fn(&mut Connection), caps: Caps) -> (bool, Connection) {
    let scripted = Scripted::saying([Congestion, Undecided]).revising_to(Wireless);
    let mut connection = Connection::with_ten_acked(&scripted.choice().with_caps(caps).unwrap());
    connection.lose(60, [10]);
    connection.base.window += 500;
    connection.lose(60, [11]);
    change(&mut connection);
    let undone = connection.ack(112, [61]);
    (undone, connection)
}

#[test]
fn a_revised_verdict_restores_the_window_before_the_reduction() {
    let (undone, connection) = revised(|_| (), NO_CAPS);
    assert!(undone);
    assert_eq!((connection.base.window, connection.base.told), (64_000, 0));
    let counts = connection.losses.counts();
    assert_eq!((counts.undone, counts.wireless, counts.congestion, counts.undecided), (1, 2, 0, 0));
    assert_eq!((counts.reductions, counts.avoided), (2, 1));
}

#[test]
fn a_revised_verdict_does_nothing_after_a_mark_or_at_a_cap() {
    let stays = |change: fn(&mut Connection), caps| {
        let (undone, connection) = revised(change, caps);
        let counts = connection.losses.counts();
        assert_eq!((undone, counts.undone, counts.wireless, counts.congestion), (false, 0, 0, 1));
        assert!(connection.base.window < 64_000);
    };
    stays(|connection| connection.base.can_restore = false, NO_CAPS);
    stays(
        |connection| assert_eq!(connection.declare(61, Signal::EcnMark, 0), Response::Reduced),
        NO_CAPS,
    );
    stays(|_| (), Caps { max_run: 1, ..NO_CAPS });
    let (undone, connection) = revised(|connection| connection.base.window = 70_000, NO_CAPS);
    assert!(!undone, "the window has grown beyond what it was");
    assert_eq!(connection.base.window, 70_000);
}

#[test]
fn a_dry_run_counts_the_same_and_keeps_nothing_from_the_base() {
    let run = |dry_run| {
        let script = [Wireless, Congestion, Wireless, Undecided, Congestion, Wireless, Wireless];
        let scripted = Scripted::saying(script).revising_to(Wireless);
        let caps = Caps { max_run: 4, ..NO_CAPS };
        let choice = scripted.choice().with_caps(caps).unwrap().with_dry_run(dry_run);
        let mut connection = Connection::with_ten_acked(&choice);
        connection.lose(60, [10]);
        connection.lose(60, [11, 12]);
        // The recovery ends: 11 and 12 are wireless after all.
        let undone = connection.ack(112, [61]);
        connection.send(100);
        connection.lose(112, [13]);
        connection.lose(112, [14]);
        connection.lose(113, [15]);
        connection.ack(250, [150]);
        connection.lose(250, [130]);
        connection.lose(250, [131, 132, 133, 134, 135]);
        (undone, connection)
    };
    let [(undone, steered), (undone_dry, dry)] = [false, true].map(run);
    assert_eq!((undone, undone_dry), (true, false), "a dry run gives the base nothing back");
    assert_eq!(steered.losses.counts(), dry.losses.counts());
    // What is undone was never told; of the last recovery only the last loss is.
    assert_eq!((steered.base.told, dry.base.told, dry.base.window), (1, 7, 1000));
    let verdicts = |connection: &Connection| -> Vec<_> {
        connection.losses.last_verdicts().map(|last| (last.verdict, last.reason())).collect()
    };
    assert_eq!(verdicts(&steered), verdicts(&dry));
    let kept = dry.losses.last_verdicts().filter(|last| last.response == Response::WouldKeep);
    assert_eq!(kept.count(), 3);
    assert!(last(&dry).to_string().starts_with("5 packets lost (131 to 135): max_run is reached"));
    let first = dry.losses.last_verdicts().next().unwrap().to_string();
    assert_eq!(
        first,
        "1 packet lost (10): test: as asked: wireless; window would be kept (32000 bytes)"
    );
}

#[test]
fn a_verdict_is_reported_whole_to_observers() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let kept = reported.clone();
    let keep = on_verdict(move |verdict: &LossVerdict| kept.lock().unwrap().push(verdict.clone()));
    let choice = Scripted::saying([Wireless, Congestion]).choice().with_observer(keep);
    let monitor = choice.monitor();
    let mut first = Connection::with_ten_acked(&choice);
    let mut second = Connection::with_ten_acked(&choice);
    first.lose(60, [10]);
    second.lose(62, [11, 14]);
    let reported = reported.lock().unwrap().clone();
    assert_eq!(reported, monitor.last_verdicts());
    assert_eq!(reported, [last(&first).clone(), last(&second).clone()]);
    let verdict = &reported[1];
    assert_eq!((verdict.connection, verdict.at), (1, at(62)));
    assert_eq!((verdict.numbers, verdict.lost_pkts), (Some(Numbers { first: 11, last: 14 }), 2));
    assert_eq!((verdict.window_before, verdict.window_after), (64_000, 32_000));
    assert_eq!(
        (monitor.totals().wireless, monitor.totals().congestion, monitor.controllers()),
        (1, 2, 2)
    );
    assert_eq!(
        (first.losses.connection(), first.losses.counts().congestion),
        (0, 0),
        "its own alone"
    );
}

#[test]
fn the_last_sixteen_verdicts_are_kept() {
    let mut connection = Connection::with_ten_acked(&Scripted::saying([Wireless; 20]).choice());
    for number in 10..30 {
        connection.lose(60, [number]);
    }
    let first: Vec<u64> =
        connection.losses.last_verdicts().map(|verdict| verdict.numbers.unwrap().first).collect();
    assert_eq!(first, (14..30).collect::<Vec<u64>>());
}

/// Notes what it sees, in words.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

impl Observer for Seen {
    fn on_observation(&mut self, observation: &Observation, scheme: &'static str) {
        let rtt = observation.delay.unwrap();
        self.note(format!(
            "{scheme}: {} packets, {} missing, {rtt}",
            observation.spanned, observation.missing
        ));
    }

    fn overrule(&mut self, loss: &Loss) -> Option<Judgement> {
        let verdict = if loss.seq() == Some(11) { Wireless } else { return None };
        Some(Judgement::stated(verdict, "observer", "it is known"))
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.note(format!("lost: {:?}", loss.numbers.map(|numbers| (numbers.first, numbers.last))));
    }

    fn on_judged(&mut self, _: &Loss, judgement: &Judgement) {
        self.note(format!("judged: {}", judgement.verdict));
    }

    fn on_recovered(&mut self, recovery: &Recovery) {
        self.note(format!("recovered: {} lost", recovery.lost_pkts));
    }
}

impl ControllerObserver for Seen {
    fn on_verdict(&mut self, verdict: &LossVerdict) {
        self.note(verdict.response.to_string());
    }

    fn on_undone(&mut self, undone: &Undone) {
        self.note(format!(
            "undone: {} lost, {} undecided",
            undone.lost_pkts, undone.undecided_pkts
        ));
    }

    fn on_avoided(&mut self, connection: u64) {
        self.note(format!("avoided on {connection}"));
    }
}

#[test]
fn an_observer_sees_observations_losses_and_responses_in_order() {
    let seen = Seen::default();
    let choice = Scripted::saying([Congestion, Undecided]).revising_to(Wireless).choice();
    let mut connection = Connection::with_ten_acked(&choice.with_observer(seen.clone()));
    connection.lose(60, [10]);
    connection.lose(60, [12, 13]);
    connection.ack(112, [61]);
    let expected = [
        "scripted: 10 packets, 0 missing, 50.000 ms",
        "lost: Some((10, 10))",
        "judged: congestion",
        "window reduced",
        "lost: Some((12, 13))",
        "judged: undecided",
        "window reduced",
        "scripted: 52 packets, 51 missing, 51.000 ms",
        "recovered: 3 lost",
        "undone: 3 lost, 2 undecided",
        "avoided on 0",
    ];
    assert_eq!(*seen.0.lock().unwrap(), expected);
}

#[test]
fn an_observer_answers_in_the_algorithms_place_within_the_caps() {
    let scripted = Scripted::saying([Congestion]);
    let caps = Caps { max_run: 1, ..NO_CAPS };
    let choice = scripted.choice().with_caps(caps).unwrap().with_observer(Seen::default());
    let mut connection = Connection::with_ten_acked(&choice);
    assert_eq!(connection.lose(60, [11]), Response::Kept);
    assert_eq!(scripted.left(), 1, "the algorithm is not asked");
    assert_eq!(last(&connection).reason(), "observer: it is known: wireless");
    assert_eq!(connection.lose(60, [10]), Response::Reduced, "the algorithm answers");
    let mut refused = Connection::with_ten_acked(&choice);
    refused.lose(60, [11, 12]);
    assert_eq!(last(&refused).overruled, Some(Overruled::RunCap), "two packets, one allowed");
}

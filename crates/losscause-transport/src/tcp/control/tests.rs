//! One harness drives every control with any order of events, and checks what each promises.

use losscause::{Span, Verdict};
use proptest::prelude::*;

use super::*;
use crate::at;
use crate::tcp::Quirks;
use crate::tcp::loss_event::Sending;

/// An ACK, 0 packets being in flight.
pub(crate) fn ack(ms: i64, newly_acked_pkts: u64, rtt_ms: Option<i64>, growth: Growth) -> AckEvent {
    let rtt = rtt_ms.map(Span::from_millis);
    AckEvent { at: at(ms), newly_acked_pkts, rtt, srtt: rtt, una: 1, next: 1, growth }
}

pub(crate) fn timeout(ms: i64, flight_pkts: u64, again: bool) -> TimeoutEvent {
    TimeoutEvent { at: at(ms), flight_pkts, again, lost_pkts: 0 }
}

/// What happens to a connection.
#[derive(Clone, Copy, Debug)]
enum Event {
    Ack { pkts: u64, rtt_ms: Option<i64>, growth: Growth },
    DupAck,
    Mark,
    Loss { verdict: Verdict, times: Option<u32> },
    Timeout { again: bool },
}

fn event() -> impl Strategy<Value = Event> {
    let growth = prop_oneof![4 => Just(Growth::Due), 1 => Just(Growth::Repairing), 1 => Just(Growth::Unused)];
    let verdict =
        prop_oneof![Just(Verdict::Congestion), Just(Verdict::Wireless), Just(Verdict::Undecided)];
    prop_oneof![
        12 => (1_u64..20, prop::option::of(1_i64..2_000), growth)
            .prop_map(|(pkts, rtt_ms, growth)| Event::Ack { pkts, rtt_ms, growth }),
        3 => Just(Event::DupAck),
        1 => Just(Event::Mark),
        2 => (verdict, prop::option::of(0_u32..3)).prop_map(|(verdict, times)| Event::Loss { verdict, times }),
        1 => any::<bool>().prop_map(|again| Event::Timeout { again }),
    ]
}

/// A connection's packet numbers and window around a control.
struct Driver {
    control: Box<dyn Cloneable>,
    window: Window,
    now_ms: i64,
    una: u64,
    next: u64,
}

impl Driver {
    fn new(control: Box<dyn Cloneable>, initial_pkts: u32) -> Self {
        let mut driver = Self {
            control,
            window: Window { cwnd: 1.0, ssthresh: 60.0, max_pkts: 100 },
            now_ms: 0,
            una: 1,
            next: 1,
        };
        driver.control.on_open(&mut driver.window, initial_pkts);
        driver
    }

    fn happen(&mut self, after_ms: i64, event: Event) -> Result<(), TestCaseError> {
        self.now_ms += after_ms;
        self.next = self.next.max(self.una + u64::from(self.window.whole_pkts().min(100)));
        let at = at(self.now_ms);
        let flight_pkts = self.next - self.una;
        let before = self.window.clone();
        let congestion = LossEvent { at, flight_pkts, verdict: Verdict::Congestion, sending: None };
        let answer = match event {
            Event::Ack { pkts, rtt_ms, growth } => {
                let newly_acked_pkts = pkts.min(flight_pkts).max(1);
                self.una += newly_acked_pkts;
                self.next = self.next.max(self.una);
                let rtt = rtt_ms.map(Span::from_millis);
                let una = self.una;
                let next = self.next;
                if let Some(rtt) = rtt {
                    self.control.on_rtt(&mut self.window, &RttSample { at, rtt, una, next });
                }
                let acked = AckEvent { at, newly_acked_pkts, rtt, srtt: rtt, una, next, growth };
                self.control.on_ack(&mut self.window, &acked);
                None
            }
            Event::DupAck => {
                self.control.on_dup_ack(at);
                None
            }
            Event::Mark => Some(self.control.on_mark(&mut self.window, &congestion)),
            Event::Loss { verdict, times } => {
                let sending = times.map(|times| Sending { at: Some(at), times });
                Some(
                    self.control
                        .on_loss(&mut self.window, &LossEvent { verdict, sending, ..congestion }),
                )
            }
            Event::Timeout { again } => {
                self.control
                    .on_timeout(&mut self.window, &timeout(self.now_ms, flight_pkts, again));
                None
            }
        };
        let name = self.control.name();
        let Window { cwnd, ssthresh, max_pkts } = self.window;
        prop_assert!(cwnd.is_finite() && cwnd >= 1.0, "{name}: cwnd {cwnd} after {event:?}");
        prop_assert!(
            ssthresh.is_finite() && ssthresh >= 2.0,
            "{name}: ssthresh {ssthresh} after {event:?}"
        );
        prop_assert_eq!(max_pkts, 100, "{}: the receiver's window is not its own", name);
        if answer == Some(Answer::Kept) {
            prop_assert!(
                cwnd >= before.cwnd && ssthresh == before.ssthresh,
                "{name}: kept, but cut: {event:?}"
            );
        }
        Ok(())
    }
}

/// Every control: the published ones with each set of rules, Linux's, and one of another crate.
fn all() -> Vec<Box<dyn Cloneable>> {
    let mut all = Vec::new();
    for quirks in [Quirks::RFC, Quirks::NS2_2_35, Quirks::NS2_CLASSIC, Quirks::NS2_2001] {
        let config = Config { quirks, ..Config::rfc() };
        all.extend(ResponseScheme::PUBLISHED.iter().map(|response| response.build(&config)));
    }
    all.extend(
        [ResponseScheme::Aimd, ResponseScheme::Cubic]
            .map(|response| response.build_linux(&Config::linux())),
    );
    all.push(ResponseScheme::Own(HALVING).build(&Config::rfc()));
    all
}

const HALVING: OwnControl =
    OwnControl::new("halving", "A packet more per ACK, half per loss.", &|_| Halving);

/// The smallest control that says something about every event.
#[derive(Clone, Debug)]
struct Halving;

impl CongestionControl for Halving {
    fn name(&self) -> &'static str {
        "halving"
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if acked.growth.is_due() {
            window.cwnd += 1.0;
        }
    }

    fn on_loss(&mut self, window: &mut Window, _: &LossEvent) -> Answer {
        window.ssthresh = (window.cwnd / 2.0).max(2.0);
        window.cwnd = window.ssthresh;
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, _: &TimeoutEvent) {
        window.cwnd = 1.0;
    }
}

proptest! {
    #[test]
    fn every_control_keeps_its_window_sound(
        initial_pkts in 1_u32..20,
        events in prop::collection::vec((0_i64..400, event()), 1..120),
    ) {
        for control in all() {
            let mut driver = Driver::new(control, initial_pkts);
            for &(after_ms, event) in &events {
                driver.happen(after_ms, event)?;
            }
        }
    }

    #[test]
    fn a_copy_goes_on_as_its_original(
        events in prop::collection::vec((0_i64..400, event()), 2..60),
    ) {
        for control in all() {
            let mut driver = Driver::new(control, 3);
            let (first, rest) = events.split_at(events.len() / 2);
            for &(after_ms, event) in first {
                driver.happen(after_ms, event)?;
            }
            let mut copy = Driver { control: driver.control.clone(), window: driver.window.clone(), ..driver };
            for &(after_ms, event) in rest {
                driver.happen(after_ms, event)?;
                copy.happen(after_ms, event)?;
                prop_assert_eq!(driver.window.cwnd, copy.window.cwnd);
            }
        }
    }
}

#[test]
fn every_name_is_there_once() {
    let names: Vec<&str> = ResponseScheme::PUBLISHED.iter().map(ResponseScheme::name).collect();
    assert_eq!(
        names,
        ["aimd", "vegas", "veno", "cubic", "westwood", "westwood-vt", "new-jersey", "bbr"]
    );
    assert!(ResponseScheme::PUBLISHED.iter().all(|response| response.summary().ends_with('.')));
}

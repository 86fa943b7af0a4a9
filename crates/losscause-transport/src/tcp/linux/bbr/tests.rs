//! BBR on a path of 1000 packets per second and 40 ms, which holds 40 packets.

use losscause::Verdict;

use super::*;
use crate::at;
use crate::tcp::Variant;
use crate::tcp::control::RateSample;
use crate::tcp::control::tests::timeout;

const MS: fn(i64) -> Span = Span::from_millis;

/// A connection, and what was delivered and lost since its start.
struct Flow {
    bbr: Bbr,
    window: Window,
    delivered: u64,
    lost: u64,
    ms: i64,
}

/// What an ACK tells, beside a packet per millisecond.
#[derive(Clone, Copy)]
struct Told {
    pkts: u64,
    lost: u64,
    /// Packets per second.
    rate: u64,
    rtt_ms: i64,
    in_flight: u64,
    repair: Repair,
    is_limited: bool,
    /// Whether the newest packet was sent after the last round trip ended.
    is_new_round: bool,
}

const ACK: Told = Told {
    pkts: 2,
    lost: 0,
    rate: 1_000,
    rtt_ms: 40,
    in_flight: 40,
    repair: Repair::Nothing,
    is_limited: false,
    is_new_round: false,
};

impl Flow {
    /// The SYN took 40 ms.
    fn new(seed: u64) -> Self {
        let config = Config { random_seed: seed, ..Config::linux().with_variant(Variant::Bbr) };
        let mut bbr = Bbr::new(&config);
        let mut window = Window { cwnd: 1.0, ssthresh: 1e9, max_pkts: 10_000 };
        bbr.on_rtt(&mut window, &RttSample { at: at(40), rtt: MS(40), una: 1, next: 1 });
        bbr.on_open(&mut window, 10);
        Self { bbr, window, delivered: 1, lost: 0, ms: 40 }
    }

    fn ack(&mut self, after_ms: i64, told: Told) {
        self.ms += after_ms;
        self.delivered += told.pkts;
        self.lost += told.lost;
        let now = at(self.ms);
        let prior = if told.is_new_round { self.bbr.rounds.end } else { 0 };
        let rate = RateSample {
            delivered_pkts: told.rate * 40 / 1_000,
            interval: MS(40),
            prior_delivered_pkts: prior,
            is_limited: told.is_limited,
        };
        let delivery = Delivery {
            at: now,
            newly_delivered_pkts: told.pkts,
            newly_lost_pkts: told.lost,
            delivered_pkts: self.delivered,
            delivered_at: now,
            lost_pkts: self.lost,
            prior_in_flight_pkts: told.in_flight,
            in_flight_pkts: told.in_flight,
            rtt: Some(MS(told.rtt_ms)),
            srtt: Some(MS(told.rtt_ms)),
            rate: (told.pkts > 0).then_some(rate),
            repair: told.repair,
            departs_at: now,
        };
        self.bbr.on_delivery(&mut self.window, &delivery);
    }

    /// A round trip passes.
    fn round(&mut self, told: Told) {
        self.ack(40, Told { is_new_round: true, ..told });
    }

    fn rate(&self) -> u64 {
        self.bbr.pacing().unwrap().bytes_per_s
    }

    /// After STARTUP and DRAIN, at 200 ms.
    fn probing(seed: u64) -> Self {
        let mut flow = Self::new(seed);
        (0..4).for_each(|_| flow.round(ACK));
        assert!(matches!(flow.bbr.mode, Mode::ProbeBw { .. }), "{:?}", flow.bbr.mode);
        flow
    }

    /// The same, with that gain.
    fn with_gain(gain: usize) -> Self {
        (0..).map(Self::probing).find(|flow| flow.gain() == Some(gain)).unwrap()
    }

    fn gain(&self) -> Option<usize> {
        match self.bbr.mode {
            Mode::ProbeBw { gain, .. } => Some(gain),
            _ => None,
        }
    }
}

#[test]
fn the_first_rate_sends_the_window_in_a_round_trip_with_the_high_gain() {
    // 250 packets per second of 1448 bytes, times 739/256 and 0.99.
    assert_eq!(Flow::new(1).rate(), 1_034_467);
}

#[test]
fn startup_ends_when_three_round_trips_bring_less_than_a_quarter() {
    let mut flow = Flow::new(1);
    let mut modes = vec![];
    // 500 to 625 is a quarter; 700 is not, and three such rounds are enough.
    for rate in [250, 500, 625, 700, 725, 750] {
        flow.round(Told { rate, in_flight: 100, ..ACK });
        modes.push(flow.bbr.mode);
    }
    assert_eq!(modes[..5], [Mode::Startup; 5]);
    assert_eq!(modes[5], Mode::Drain);
    // 750 packets per second for 40 ms are 30, and 3 bursts of 2.
    assert_eq!(flow.window.ssthresh, 36.0);
}

#[test]
fn rounds_without_data_to_send_do_not_end_startup() {
    let mut flow = Flow::new(1);
    (0..9).for_each(|_| flow.round(Told { is_limited: true, ..ACK }));
    assert_eq!(flow.bbr.mode, Mode::Startup);
    assert_eq!(flow.bbr.max_bandwidth.max(), Bandwidth::of(40, MS(40)), "the highest counts");
}

#[test]
fn drain_lasts_until_the_path_holds_what_is_in_flight() {
    let mut flow = Flow::new(1);
    (0..4).for_each(|_| flow.round(Told { in_flight: 100, ..ACK }));
    // 40 packets and 3 bursts of 2.
    for (in_flight, drains) in [(80, true), (47, true), (46, false)] {
        flow.ack(2, Told { in_flight, ..ACK });
        assert_eq!(flow.bbr.mode == Mode::Drain, drains, "{in_flight} in flight");
        if drains {
            // 88/256 of 999.99 packets per second, and 0.99.
            assert_eq!(flow.rate(), 492_766);
        }
    }
}

#[test]
fn the_window_is_two_paths_and_three_bursts() {
    let mut flow = Flow::with_gain(2);
    (0..60).for_each(|_| flow.ack(2, ACK));
    // ACKs of two packets bring 3 at most beyond 999.99 per second; 80 + 3 + 6, rounded up.
    assert_eq!(flow.window.cwnd, 90.0);
}

#[test]
fn the_cycle_begins_with_any_gain_but_the_second() {
    let first: Vec<usize> = (0..200).filter_map(|seed| Flow::probing(seed).gain()).collect();
    assert_eq!(first.len(), 200);
    for gain in 0..8 {
        assert_eq!(first.contains(&gain), gain != 1, "gain {gain}");
    }
}

#[test]
fn a_gain_lasts_for_a_round_trip_and_the_low_one_until_the_queue_is_gone() {
    let mut flow = Flow::with_gain(7);
    flow.ack(40, ACK);
    assert_eq!(flow.gain(), Some(7), "more than 40 ms");
    flow.ack(1, ACK);
    assert_eq!((flow.gain(), flow.bbr.pacing_gain), (Some(0), Gain::of(5, 4)));
    // 50 packets, 3 bursts of 2, and 2 for the first gain are 58; the next burst counts.
    flow.ack(60, Told { in_flight: 55, ..ACK });
    assert_eq!(flow.gain(), Some(0), "57 packets");
    flow.ack(1, Told { in_flight: 56, ..ACK });
    assert_eq!((flow.gain(), flow.bbr.pacing_gain), (Some(1), Gain::of(3, 4)));
    flow.ack(5, Told { in_flight: 47, ..ACK });
    assert_eq!(flow.gain(), Some(1));
    flow.ack(5, Told { in_flight: 46, ..ACK });
    assert_eq!((flow.gain(), flow.bbr.pacing_gain), (Some(2), Gain::ONE));
}

#[test]
fn a_loss_ends_the_high_gain_after_a_round_trip() {
    let mut flow = Flow::with_gain(0);
    flow.ack(40, Told { lost: 1, ..ACK });
    assert_eq!(flow.gain(), Some(0), "not yet");
    flow.ack(1, Told { lost: 1, ..ACK });
    assert_eq!(flow.gain(), Some(1));
}

#[test]
fn after_ten_seconds_four_packets_are_in_flight_for_200_ms_and_a_round_trip() {
    let mut flow = Flow::probing(1);
    // The smallest RTT is of the first ACKs; later ones are larger.
    while flow.bbr.mode != (Mode::ProbeRtt { until: None, round_done: false }) {
        flow.ack(2, Told { rtt_ms: 41, ..ACK });
        assert!(flow.ms < 11_000);
    }
    // DRAIN ended at 200 ms, tick 50: 2500 ticks of 4 ms later, and one.
    assert_eq!((flow.ms, flow.window.cwnd), (10_204, 4.0));
    assert!(flow.bbr.limits_rate());
    let cwnd = flow.bbr.recovery.prior_cwnd;
    flow.ack(36, Told { rtt_ms: 41, in_flight: 4, ..ACK });
    // At 10,240 ms, tick 2560, begin 50 ticks, and one: until 10,444 ms.
    flow.ack(40, Told { rtt_ms: 41, in_flight: 4, is_new_round: true, ..ACK });
    flow.ack(163, Told { rtt_ms: 41, in_flight: 4, ..ACK });
    assert!(flow.bbr.limits_rate(), "{} ms", flow.ms);
    flow.ack(1, Told { rtt_ms: 41, in_flight: 4, ..ACK });
    assert!(!flow.bbr.limits_rate());
    assert!(flow.window.cwnd >= f64::from(cwnd), "restored");
    assert_eq!(flow.bbr.min_rtt.rtt, Some(MS(41)), "the old one was forgotten");
}

fn lose(flow: &mut Flow, verdict: Verdict) {
    let loss = LossEvent { at: at(flow.ms), flight_pkts: 40, verdict, sending: None };
    assert_eq!(flow.bbr.on_loss(&mut flow.window, &loss), Answer::Kept);
}

#[test]
fn a_recovery_sends_what_is_delivered_then_grows_and_restores_the_window() {
    let mut flow = Flow::with_gain(2);
    (0..60).for_each(|_| flow.ack(2, ACK));
    let before = flow.window.cwnd;
    lose(&mut flow, Verdict::Congestion);
    let repair = Told { repair: Repair::Recovery, ..ACK };
    flow.ack(2, Told { lost: 3, in_flight: 35, ..repair });
    assert_eq!(flow.window.cwnd, 37.0, "35 in flight and 2 delivered");
    flow.ack(2, Told { in_flight: 35, ..repair });
    assert_eq!(flow.window.cwnd, 37.0);
    flow.ack(2, Told { in_flight: 35, is_new_round: true, ..repair });
    assert_eq!(flow.window.cwnd, 39.0, "2 more in the second round trip");
    flow.ack(2, ACK);
    assert_eq!(flow.window.cwnd, before);
}

#[test]
fn a_wireless_loss_leaves_window_cycle_and_policer_alone() {
    let after = |verdict, lost| {
        let mut flow = Flow::with_gain(0);
        if lost > 0 {
            lose(&mut flow, verdict);
        }
        let repair = if lost > 0 { Repair::Recovery } else { Repair::Nothing };
        let told = Told { lost, repair, in_flight: 30, ..ACK };
        (0..30).for_each(|_| flow.ack(2, told));
        (flow.window.cwnd, flow.gain(), flow.bbr.policer.bandwidth(), flow.bbr.recovery.spared_pkts)
    };
    let (cwnd, gain, policer, _) = after(Verdict::Congestion, 0);
    assert_eq!(after(Verdict::Wireless, 1), (cwnd, gain, policer, 30));
    let (cut, next, ..) = after(Verdict::Congestion, 1);
    assert!(cut < cwnd && next != gain);
}

#[test]
fn a_later_loss_of_a_spared_recovery_begins_it() {
    let mut flow = Flow::with_gain(2);
    (0..60).for_each(|_| flow.ack(2, ACK));
    lose(&mut flow, Verdict::Wireless);
    let repair = Told { repair: Repair::Recovery, lost: 1, in_flight: 35, ..ACK };
    flow.ack(2, repair);
    assert!(flow.window.cwnd > 80.0);
    lose(&mut flow, Verdict::Congestion);
    flow.ack(2, repair);
    assert_eq!(flow.window.cwnd, 37.0);
}

#[test]
fn a_timeout_restores_the_window_when_it_is_repaired() {
    let mut flow = Flow::with_gain(2);
    (0..60).for_each(|_| flow.ack(2, ACK));
    let before = flow.window.cwnd;
    flow.bbr.on_timeout(&mut flow.window, &timeout(200, 40, false));
    assert_eq!(flow.window.cwnd, 1.0);
    flow.ack(2, Told { repair: Repair::Timeout, in_flight: 1, ..ACK });
    assert_eq!(flow.window.cwnd, 4.0, "1 and 2 delivered, at least 4");
    flow.ack(2, Told { in_flight: 6, ..ACK });
    assert_eq!(flow.window.cwnd, before);
}

#[test]
fn a_flow_that_was_idle_goes_on_at_its_bandwidth() {
    let mut flow = Flow::with_gain(0);
    flow.bbr.on_restart(&mut flow.window, at(20_000));
    assert_eq!(flow.rate(), 1_433_501);
    flow.ms = 20_000;
    flow.ack(41, Told { rtt_ms: 41, ..ACK });
    assert!(!flow.bbr.limits_rate(), "the idle time was as good as PROBE_RTT");
    assert_eq!(flow.bbr.min_rtt.rtt, Some(MS(41)));
}

#[test]
fn packets_leave_one_by_one_below_1_2_megabits_per_second() {
    let mut flow = Flow::new(1);
    flow.bbr.pacing_rate = 149_999;
    assert_eq!(flow.bbr.pacing().unwrap().least_burst_pkts, 1);
    flow.bbr.pacing_rate = 150_000;
    assert_eq!(flow.bbr.pacing().unwrap().least_burst_pkts, 2);
}

#[test]
fn equal_seeds_begin_with_equal_gains() {
    let gains = || (0..50).map(|seed| Flow::probing(seed).gain()).collect::<Vec<_>>();
    assert_eq!(gains(), gains());
}

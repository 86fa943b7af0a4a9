//! BBR, version 1, as Linux has it (Cardwell, Cheng, Gunn, Yeganeh, Jacobson 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00; net/ipv4/tcp_bbr.c).
//!
//! ```text
//! model        bandwidth = the largest delivery rate of 10 round trips;  min_rtt = the smallest RTT of 10 s
//! rate         pacing gain * bandwidth * 0.99
//! cwnd         cwnd gain * bandwidth * min_rtt + extra + 3 bursts, at least 4; grows by what was delivered
//!
//! STARTUP      gains 2.885, 2.885, until the bandwidth rose by less than 1/4 in each of 3 round trips
//! DRAIN        gains 1/2.885, 2.885, until no more is in flight than the path holds
//! PROBE_BW     cwnd gain 2; pacing gains 5/4, 3/4, 1, 1, 1, 1, 1, 1, each for min_rtt; it begins with a random one
//!              but 3/4.  5/4 lasts until a loss, or until 5/4 of the path's packets are in flight;
//!              3/4 ends when no more is in flight than the path holds
//! PROBE_RTT    once min_rtt is 10 s old: cwnd 4 for 200 ms and a round trip
//! recovery     its first round trip sends what is delivered; then cwnd grows as in slow start;
//!              at the end it is what it was before
//! ```
//!
//! | part | file |
//! |---|---|
//! | delivery rates | `../rate.rs` |
//! | units | `bandwidth.rs` |
//! | the largest rate of the window | `max_filter.rs` |
//! | aggregation of ACKs (extra) | `aggregation.rs` |
//! | policers | `policer.rs` |
//! | pacing | `../pacing.rs` |
//!
//! A round trip ends when a packet is delivered that was sent after the last one ended. All
//! quantities are whole packets, microseconds and ticks, as in the kernel.
//!
//! BBR does not answer a loss by a smaller window. A loss only starts the recovery above, ends the
//! gain 5/4, and counts towards a policer. A verdict of wireless leaves all three out: the recovery
//! repairs, and the model does not hear of the loss.
//!
//! Deviations: the first gain comes from [`Config::random_seed`](crate::tcp::Config::random_seed).

mod aggregation;
mod bandwidth;
mod max_filter;
mod policer;

use losscause::{Span, Time};

use super::clock::Clock;
use super::cwnd::UNLIMITED;
use crate::tcp::config::Config;
use crate::tcp::control::{
    AckEvent, CongestionControl, Delivery, Pacing, Repair, RttSample, TimeoutEvent,
};
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::window::Window;
use aggregation::{Acked, Aggregation};
use bandwidth::{Bandwidth, Gain};
use max_filter::MaxFilter;
use policer::{News, Policer};

/// The control of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Bbr {
    clock: Clock,
    payload_bytes: u32,
    draws: u64,
    mode: Mode,
    pacing_gain: Gain,
    cwnd_gain: Gain,
    max_bandwidth: MaxFilter,
    rounds: Rounds,
    pipe: Pipe,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    policer: Policer,
    /// Payload, bytes per second.
    pacing_rate: u64,
    /// Whether the pacing rate was set by a round-trip time yet.
    has_seen_rtt: bool,
    /// Whether the flow sends again and nothing was delivered since.
    restarts: bool,
    recovery: Recovery,
    /// Packets delivered and when, by the last ACK.
    delivered: (u64, Time),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// `gain` is a place in [`CYCLE`].
    ProbeBw {
        gain: usize,
        began: Time,
    },
    /// `until` is a tick, known once few packets are in flight.
    ProbeRtt {
        until: Option<i64>,
        round_done: bool,
    },
}

/// Round trips, counted by packets.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    count: u64,
    /// The round trip ends when a packet is delivered that was sent after so many deliveries.
    end: u64,
    /// Whether one has just begun.
    start: bool,
}

/// Whether the bandwidth still grows.
#[derive(Clone, Copy, Debug, Default)]
struct Pipe {
    bandwidth: Bandwidth,
    rounds: u32,
    is_full: bool,
}

#[derive(Clone, Copy, Debug)]
struct MinRtt {
    rtt: Option<Span>,
    /// The tick when it was measured.
    at: i64,
}

/// What is under repair, as the model hears of it.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// At the last ACK.
    before: Repair,
    /// Whether what is delivered is sent, and no more.
    conserves: bool,
    /// cwnd before it was cut.
    prior_cwnd: u32,
    /// Whether the losses were called wireless.
    is_spared: bool,
    /// Losses since the start, and those of them that were called wireless.
    lost_pkts: u64,
    spared_pkts: u64,
}

/// 2/ln 2: doubles the rate in each round trip.
const HIGH_GAIN: Gain = Gain::of(2_885, 1_000).rounded_up();
const DRAIN_GAIN: Gain = Gain::of(1_000, 2_885);
const CWND_GAIN: Gain = Gain::of(2, 1);
const CYCLE: [Gain; 8] = [
    Gain::of(5, 4),
    Gain::of(3, 4),
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
];
/// Gains that the first may be: all but the second.
const FIRST_GAINS: u64 = 7;
const BANDWIDTH_ROUNDS: u64 = 10;
const MIN_RTT_LASTS: Span = Span::from_secs(10);
const PROBE_RTT_LASTS: Span = Span::from_millis(200);
const LEAST_CWND: u32 = 4;
const GROWTH: Gain = Gain::of(5, 4);
const ROUNDS_WITHOUT_GROWTH: u32 = 3;
/// Before a round-trip time is known.
const NOMINAL_RTT: Span = Span::from_millis(1);
const INITIAL_CWND: u32 = 10;
/// Below 1.2 Mb/s packets leave one by one.
const SLOW_BYTES_PER_S: u64 = 1_200_000 / 8;
const MOST_BURST_PKTS: u64 = 127;

impl Bbr {
    pub(crate) fn new(config: &Config) -> Self {
        let mut bbr = Self {
            clock: Clock::new(config.quirks.tick, config.quirks.tick_offset),
            payload_bytes: config.payload_bytes,
            draws: config.random_seed,
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            max_bandwidth: MaxFilter::new(BANDWIDTH_ROUNDS),
            rounds: Rounds::default(),
            pipe: Pipe::default(),
            min_rtt: MinRtt { rtt: None, at: 0 },
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            pacing_rate: 1,
            has_seen_rtt: false,
            restarts: false,
            recovery: Recovery {
                before: Repair::Nothing,
                conserves: false,
                prior_cwnd: 0,
                is_spared: false,
                lost_pkts: 0,
                spared_pkts: 0,
            },
            delivered: (0, Time::ZERO),
        };
        bbr.pace_by_window(config.initial_window_pkts, NOMINAL_RTT);
        bbr
    }

    /// The rate at which the flow is paced.
    fn bandwidth(&self) -> Bandwidth {
        self.policer.bandwidth().unwrap_or_else(|| self.max_bandwidth.max())
    }

    fn update_model(&mut self, window: &mut Window, delivery: &Delivery) {
        self.update_bandwidth(delivery);
        self.update_aggregation(window, delivery);
        self.update_cycle(delivery);
        self.update_pipe(delivery);
        self.check_drain(window, delivery);
        self.update_min_rtt(window, delivery);
        self.update_gains();
    }

    // draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.1.
    fn update_bandwidth(&mut self, delivery: &Delivery) {
        self.rounds.start = false;
        let Some(rate) = delivery.rate else { return };
        if rate.prior_delivered_pkts >= self.rounds.end {
            self.rounds =
                Rounds { count: self.rounds.count + 1, end: delivery.delivered_pkts, start: true };
            self.recovery.conserves = false;
        }
        self.look_for_policer(&policer::Sample {
            lost: delivery.newly_lost_pkts > 0,
            is_limited: rate.is_limited,
            lost_pkts: delivery.lost_pkts,
            ..self.policer_sample()
        });
        let bandwidth = Bandwidth::of(rate.delivered_pkts, rate.interval);
        if !rate.is_limited || bandwidth >= self.max_bandwidth.max() {
            self.max_bandwidth.update(self.rounds.count, bandwidth);
        }
    }

    fn policer_sample(&self) -> policer::Sample {
        let (delivered_pkts, delivered_at) = self.delivered;
        policer::Sample {
            round_start: self.rounds.start,
            lost: true,
            is_limited: false,
            probes: matches!(self.mode, Mode::ProbeBw { .. }),
            delivered_pkts,
            delivered_at,
            lost_pkts: 0,
            payload_bytes: self.payload_bytes,
        }
    }

    fn look_for_policer(&mut self, sample: &policer::Sample) {
        match self.policer.on_sample(sample) {
            News::Found => self.pacing_gain = Gain::ONE,
            News::Over => self.probe_bandwidth(),
            News::None => {}
        }
    }

    fn update_aggregation(&mut self, window: &Window, delivery: &Delivery) {
        if delivery.rate.is_some() {
            self.aggregation.on_ack(&Acked {
                at: delivery.delivered_at,
                pkts: delivery.newly_delivered_pkts,
                bandwidth: self.bandwidth(),
                cwnd_pkts: window.whole_pkts(),
                round_start: self.rounds.start,
            });
        }
    }

    // Section 4.3.4.3.
    fn update_cycle(&mut self, delivery: &Delivery) {
        if let Mode::ProbeBw { gain, began } = self.mode
            && self.ends_gain(delivery, began)
        {
            self.mode =
                Mode::ProbeBw { gain: (gain + 1) % CYCLE.len(), began: delivery.delivered_at };
        }
    }

    fn ends_gain(&self, delivery: &Delivery, began: Time) -> bool {
        let lasted = delivery.delivered_at - began > self.min_rtt.rtt.unwrap_or(Span::MAX);
        if self.pacing_gain == Gain::ONE {
            return lasted;
        }
        let in_flight = self.in_network_at_departure(delivery, delivery.prior_in_flight_pkts);
        if self.pacing_gain > Gain::ONE {
            let is_full = || in_flight >= self.inflight(self.pacing_gain);
            return lasted && (delivery.newly_lost_pkts > 0 || is_full());
        }
        lasted || in_flight <= self.inflight(Gain::ONE)
    }

    // Section 4.3.2.2.
    fn update_pipe(&mut self, delivery: &Delivery) {
        let is_limited = delivery.rate.is_some_and(|rate| rate.is_limited);
        if self.pipe.is_full || !self.rounds.start || is_limited {
            return;
        }
        let bandwidth = self.max_bandwidth.max();
        if bandwidth >= self.pipe.bandwidth.scaled(GROWTH) {
            self.pipe = Pipe { bandwidth, ..Pipe::default() };
            return;
        }
        self.pipe.rounds += 1;
        self.pipe.is_full = self.pipe.rounds >= ROUNDS_WITHOUT_GROWTH;
    }

    // Section 4.3.3.
    fn check_drain(&mut self, window: &mut Window, delivery: &Delivery) {
        if self.mode == Mode::Startup && self.pipe.is_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(Gain::ONE) as f64;
        }
        if self.mode == Mode::Drain
            && self.in_network_at_departure(delivery, delivery.in_flight_pkts)
                <= self.inflight(Gain::ONE)
        {
            self.probe_bandwidth();
        }
    }

    fn probe_bandwidth(&mut self) {
        let back = draw(&mut self.draws) % FIRST_GAINS;
        let gain = (CYCLE.len() - back as usize) % CYCLE.len();
        self.mode = Mode::ProbeBw { gain, began: self.delivered.1 };
    }

    // Sections 4.1.2 and 4.3.5.
    fn update_min_rtt(&mut self, window: &mut Window, delivery: &Delivery) {
        let tick = self.clock.ticks(delivery.at);
        let is_old = tick > self.min_rtt.at + self.clock.waits(MIN_RTT_LASTS);
        if let Some(rtt) = delivery.rtt
            && (is_old || self.min_rtt.rtt.is_none_or(|min| rtt <= min))
        {
            self.min_rtt = MinRtt { rtt: Some(rtt), at: tick };
        }
        let probes = matches!(self.mode, Mode::ProbeRtt { .. });
        if is_old && !self.restarts && !probes {
            self.save_cwnd(window);
            self.mode = Mode::ProbeRtt { until: None, round_done: false };
        }
        if let Mode::ProbeRtt { until, round_done } = self.mode {
            self.probe_rtt(window, delivery, until, round_done);
        }
        self.restarts &= delivery.newly_delivered_pkts == 0;
    }

    fn probe_rtt(
        &mut self,
        window: &mut Window,
        delivery: &Delivery,
        until: Option<i64>,
        round_done: bool,
    ) {
        let is_drained = delivery.in_flight_pkts <= LEAST_CWND.into();
        if until.is_none() && is_drained {
            let until = self.clock.ticks(delivery.at) + self.clock.waits(PROBE_RTT_LASTS);
            self.mode = Mode::ProbeRtt { until: Some(until), round_done: false };
            self.rounds.end = delivery.delivered_pkts;
        } else if until.is_some() && (round_done || self.rounds.start) {
            self.mode = Mode::ProbeRtt { until, round_done: true };
            self.end_probe_rtt(window, delivery.at);
        }
    }

    /// Leaves PROBE_RTT if it has lasted long enough.
    fn end_probe_rtt(&mut self, window: &mut Window, now: Time) {
        let tick = self.clock.ticks(now);
        if let Mode::ProbeRtt { until: Some(until), .. } = self.mode
            && tick > until
        {
            self.min_rtt.at = tick;
            window.cwnd = window.cwnd.max(self.recovery.prior_cwnd.into());
            if self.pipe.is_full {
                self.probe_bandwidth();
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw { .. } if self.policer.bandwidth().is_some() => (Gain::ONE, CWND_GAIN),
            Mode::ProbeBw { gain, .. } => (CYCLE[gain], CWND_GAIN),
            Mode::ProbeRtt { .. } => (Gain::ONE, Gain::ONE),
        };
    }

    /// Paces a window per round trip, with the high gain.
    fn pace_by_window(&mut self, cwnd_pkts: u32, rtt: Span) {
        self.pacing_rate = self.rate_of(Bandwidth::of(cwnd_pkts.into(), rtt), HIGH_GAIN);
    }

    fn set_pacing_rate(&mut self, window: &Window, srtt: Option<Span>) {
        let rate = self.rate_of(self.bandwidth(), self.pacing_gain);
        if let Some(srtt) = srtt.filter(|_| !self.has_seen_rtt) {
            self.has_seen_rtt = true;
            self.pace_by_window(window.whole_pkts(), srtt);
        }
        if self.pipe.is_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn rate_of(&self, bandwidth: Bandwidth, gain: Gain) -> u64 {
        bandwidth.bytes_per_s(self.payload_bytes, gain).max(1)
    }

    fn burst_pkts(&self) -> u64 {
        self.current_pacing().burst_pkts(self.payload_bytes, None).min(MOST_BURST_PKTS)
    }

    fn current_pacing(&self) -> Pacing {
        let is_slow = self.pacing_rate < SLOW_BYTES_PER_S;
        Pacing { bytes_per_s: self.pacing_rate, least_burst_pkts: if is_slow { 1 } else { 2 } }
    }

    /// Packets that the path holds, times `gain`.
    fn bdp(&self, bandwidth: Bandwidth, gain: Gain) -> u64 {
        match self.min_rtt.rtt {
            Some(rtt) => bandwidth.product(rtt, gain),
            None => INITIAL_CWND.into(),
        }
    }

    /// Room for bursts at both ends, an even number, and more to probe a small path.
    fn with_bursts(&self, pkts: u64) -> u64 {
        let even = (pkts + 3 * self.burst_pkts()).next_multiple_of(2);
        even + if matches!(self.mode, Mode::ProbeBw { gain: 0, .. }) { 2 } else { 0 }
    }

    fn inflight(&self, gain: Gain) -> u64 {
        self.with_bursts(self.bdp(self.max_bandwidth.max(), gain))
    }

    /// Packets in the network when the next one departs.
    fn in_network_at_departure(&self, delivery: &Delivery, in_flight_pkts: u64) -> u64 {
        let leaving = self.bandwidth().pkts_in(delivery.departs_at - delivery.at);
        let coming = if self.pacing_gain > Gain::ONE { self.burst_pkts() } else { 0 };
        (in_flight_pkts + coming).saturating_sub(leaving)
    }

    fn set_cwnd(&mut self, window: &mut Window, delivery: &Delivery) {
        let acked = u32::try_from(delivery.newly_delivered_pkts).unwrap_or(u32::MAX);
        let mut cwnd = window.whole_pkts();
        if acked > 0 {
            cwnd = self.recover(cwnd, acked, delivery);
            if !self.recovery.conserves {
                cwnd = self.approach_target(cwnd, acked, delivery).max(LEAST_CWND);
            }
        }
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            cwnd = cwnd.min(LEAST_CWND);
        }
        window.cwnd = f64::from(cwnd.max(1));
    }

    /// Without the lost packets; at first in a recovery what is delivered, and at its end as before.
    fn recover(&mut self, cwnd: u32, acked: u32, delivery: &Delivery) -> u32 {
        let lost = u32::try_from(delivery.newly_lost_pkts).unwrap_or(u32::MAX);
        let in_flight = u32::try_from(delivery.in_flight_pkts).unwrap_or(u32::MAX);
        let conserved = in_flight.saturating_add(acked);
        let mut cwnd = if lost > 0 { cwnd.saturating_sub(lost).max(1) } else { cwnd };
        let before = std::mem::replace(&mut self.recovery.before, delivery.repair);
        if delivery.repair == Repair::Recovery && before != Repair::Recovery {
            self.recovery.conserves = true;
            self.rounds.end = delivery.delivered_pkts;
            cwnd = conserved;
        } else if before != Repair::Nothing && delivery.repair == Repair::Nothing {
            self.recovery.conserves = false;
            cwnd = cwnd.max(self.recovery.prior_cwnd);
        }
        if self.recovery.conserves { cwnd.max(conserved) } else { cwnd }
    }

    // Section 4.2.3.2.
    fn approach_target(&self, cwnd: u32, acked: u32, delivery: &Delivery) -> u32 {
        let bandwidth = self.bandwidth();
        let extra = if self.pipe.is_full { self.aggregation.extra_pkts(bandwidth) } else { 0 };
        let target = self.with_bursts(self.bdp(bandwidth, self.cwnd_gain) + extra);
        let target = u32::try_from(target).unwrap_or(u32::MAX);
        let grown = cwnd.saturating_add(acked);
        if self.pipe.is_full {
            grown.min(target)
        } else if cwnd < target || delivery.delivered_pkts < INITIAL_CWND.into() {
            grown
        } else {
            cwnd
        }
    }

    fn save_cwnd(&mut self, window: &Window) {
        let cwnd = window.whole_pkts();
        let is_cut =
            self.recovery.before != Repair::Nothing || matches!(self.mode, Mode::ProbeRtt { .. });
        let prior = self.recovery.prior_cwnd;
        self.recovery.prior_cwnd = if is_cut { prior.max(cwnd) } else { cwnd };
    }

    /// The delivery without losses that were called wireless.
    fn without_spared(&mut self, delivery: &Delivery) -> Delivery {
        let recovery = &mut self.recovery;
        recovery.is_spared &= delivery.repair == Repair::Recovery;
        if recovery.is_spared {
            recovery.spared_pkts += delivery.lost_pkts.saturating_sub(recovery.lost_pkts);
        }
        recovery.lost_pkts = delivery.lost_pkts;
        let lost_pkts = delivery.lost_pkts.saturating_sub(recovery.spared_pkts);
        if !recovery.is_spared {
            return Delivery { lost_pkts, ..*delivery };
        }
        Delivery { lost_pkts, newly_lost_pkts: 0, repair: Repair::Nothing, ..*delivery }
    }
}

impl CongestionControl for Bbr {
    fn name(&self) -> &'static str {
        "BBR"
    }

    fn on_open(&mut self, window: &mut Window, initial_pkts: u32) {
        window.restart(initial_pkts);
        window.ssthresh = f64::from(UNLIMITED);
        if let Some(rtt) = self.min_rtt.rtt {
            self.has_seen_rtt = true;
            self.pace_by_window(initial_pkts, rtt);
        }
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckEvent) {}

    fn on_rtt(&mut self, _: &mut Window, sample: &RttSample) {
        if !self.has_seen_rtt {
            self.min_rtt = MinRtt { rtt: Some(sample.rtt), at: self.clock.ticks(sample.at) };
        }
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        self.save_cwnd(window);
        self.recovery.is_spared = loss.verdict.is_wireless();
        Answer::Kept
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        if !timeout.again {
            self.save_cwnd(window);
        }
        self.recovery.is_spared = false;
        self.recovery.before = Repair::Timeout;
        self.recovery.lost_pkts = timeout.lost_pkts;
        self.pipe.bandwidth = Bandwidth::default();
        // A timeout is the end of a round trip.
        self.rounds.start = true;
        let lost_pkts = timeout.lost_pkts.saturating_sub(self.recovery.spared_pkts);
        self.look_for_policer(&policer::Sample { lost_pkts, ..self.policer_sample() });
        window.cwnd = 1.0;
    }

    fn follows_rate(&self) -> bool {
        true
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        let delivery = &self.without_spared(delivery);
        self.delivered = (delivery.delivered_pkts, delivery.delivered_at);
        self.update_model(window, delivery);
        self.set_pacing_rate(window, delivery.srtt);
        self.set_cwnd(window, delivery);
    }

    fn limits_rate(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }

    fn pacing(&self) -> Option<Pacing> {
        Some(self.current_pacing())
    }

    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.restarts = true;
        self.aggregation.restart(now);
        if matches!(self.mode, Mode::ProbeBw { .. }) {
            self.pacing_rate = self.rate_of(self.bandwidth(), Gain::ONE);
        }
        self.end_probe_rtt(window, now);
    }

    fn on_undo(&mut self) {
        self.pipe.bandwidth = Bandwidth::default();
        self.pipe.rounds = 0;
        self.policer = Policer::default();
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests;

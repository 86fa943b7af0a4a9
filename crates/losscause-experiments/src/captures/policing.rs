//! The published test for policers, as a yardstick: Flach et al., "An Internet-Wide Analysis of
//! Traffic Policing" (SIGCOMM 2016), section 2, with the limits of the authors' program.
//!
//! Between the first and the last loss, what passed tells a rate. A bucket that fills at this rate,
//! and that each packet which passes empties by its size, must be nearly empty at losses and must
//! not be empty where packets pass. Besides, trip times must not be long before losses. The test
//! takes one chunk at a time, which is what one end sends until the other one sends data. It is
//! done twice, the second time without the first and the last two losses. A flow is policed if one
//! test of one chunk says so.
//!
//! Deviations: the losses are those that the analysis finds, so that both methods judge the same
//! ones; bytes are counted from the chunk's begin, not the connection's, so that later chunks have
//! a chance; a trip time ends at the acknowledgement that covers a packet.

use std::collections::BTreeMap;
use std::io::Read;

use losscause::{Span, Time};
use losscause_capture::frames::Frames;
use losscause_capture::packet::{Endpoint, Parsed, Tcp, Transport, flag};
use losscause_capture::{CaptureError, Flow};
use losscause_study::statistics;

/// A packet of data at the sender.
#[derive(Clone, Copy, Debug)]
struct Sent {
    frame: u64,
    at: Time,
    /// The first byte after it, counted from the connection's first one.
    end: u32,
    bytes: u32,
    /// Which of the connection's chunks it belongs to.
    chunk: u32,
    /// Until it was acknowledged, if it was sent once and no loss was pending.
    trip: Option<Span>,
}

/// The packets of data of a capture, by sender and receiver.
#[derive(Debug, Default)]
pub struct Transfers(BTreeMap<(Endpoint, Endpoint), OneWay>);

/// The data of one direction of a connection.
#[derive(Debug, Default)]
struct OneWay {
    first: u32,
    packets: Vec<Sent>,
    /// Packets before this place are acknowledged.
    acknowledged: usize,
    /// The newest byte that was sent.
    newest: u32,
    /// Until this byte is acknowledged, acknowledgements wait for what was sent again.
    pending: u32,
    chunk: u32,
}

/// What the test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// A token bucket explains the losses.
    Policed {
        /// The rate that it fills with, bits per second.
        rate_bps: f64,
    },
    /// It does not.
    NotPoliced(Why),
}

/// Why a policer is ruled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Losses or passing packets are too few.
    FewLosses,
    /// The first loss comes too late.
    LateLoss,
    /// The bucket would have been empty before the first loss.
    NegativeFill,
    /// The bucket is fuller at losses than where packets pass.
    FullerAtLosses,
    /// Losses come at many fills.
    LossesOutOfRange,
    /// Packets pass an empty bucket.
    PassesOutOfRange,
    /// Trip times are long before losses.
    LongTrips,
}

/// Fewer losses or passing packets show no policer, nor do losses in fewer round trips.
const FEWEST_PACKETS: usize = 15;
const FEWEST_ROUND_TRIPS: u32 = 3;
/// The first loss comes within so many bytes.
const LATEST_LOSS_BYTES: f64 = 2e6;
/// What is nearly empty: what the rate fills in so many round trips, at losses and where packets
/// pass.
const NEAR_AT_LOSS: f64 = 2.0;
const NEAR_AT_PASS: f64 = 0.75;
/// So many may be further away.
const FAR_AT_LOSS: f64 = 0.1;
const FAR_AT_PASS: f64 = 0.03;
/// A trip time is long if it is in the upper half, so many times as long as a tenth of them are at
/// most, and so long.
const LONG: f64 = 1.3;
const LONGEST_SHORT: Span = Span::from_millis(20);
/// So many losses may follow long trip times.
const AFTER_LONG: f64 = 0.2;
/// Losses that are left out at both ends of a chunk.
const LEFT_OUT: [usize; 2] = [0, 2];

impl Transfers {
    /// Reads a capture.
    ///
    /// # Errors
    /// It is no capture.
    pub fn read(capture: impl Read) -> Result<Self, CaptureError> {
        let mut transfers = Self::default();
        let mut frames = Frames::open(capture)?;
        while let Some(frame) = frames.next_frame() {
            let Parsed::Packet(packet) = Parsed::of(&frame) else { continue };
            let Transport::Tcp(tcp) = packet.transport else { continue };
            if tcp.payload_bytes > 0 {
                let sent = transfers.0.entry((packet.src, packet.dst)).or_default();
                sent.on_data(frame.number, frame.time, &tcp);
                if let Some(answers) = transfers.0.get_mut(&(packet.dst, packet.src)) {
                    answers.on_data_of_other_end();
                }
            }
            if tcp.flags & flag::ACK != 0
                && let Some(sent) = transfers.0.get_mut(&(packet.dst, packet.src))
            {
                sent.on_ack(frame.time, tcp.ack);
            }
        }
        Ok(transfers)
    }

    /// The test on one flow.
    pub fn judge(&self, flow: &Flow) -> Verdict {
        let is_flow = |ends: &&(Endpoint, Endpoint)| {
            ends.0.to_string() == flow.src && ends.1.to_string() == flow.dst
        };
        let Some(sent) = self.0.keys().find(is_flow).and_then(|ends| self.0.get(ends)) else {
            return Verdict::NotPoliced(Why::FewLosses);
        };
        let lost: std::collections::BTreeSet<u64> =
            flow.losses.iter().filter_map(|loss| loss.frame).collect();
        let chunks = sent.packets.chunk_by(|one, next| one.chunk == next.chunk);
        let tests = chunks.flat_map(|chunk| LEFT_OUT.map(|left_out| (chunk, left_out)));
        let mut verdicts =
            tests.map(|(chunk, left_out)| judge(chunk, left_out, |one| lost.contains(&one.frame)));
        let first = verdicts.next().unwrap_or(Verdict::NotPoliced(Why::FewLosses));
        std::iter::once(first)
            .chain(verdicts)
            .find(|verdict| matches!(verdict, Verdict::Policed { .. }))
            .unwrap_or(first)
    }
}

impl OneWay {
    fn on_data(&mut self, frame: u64, at: Time, tcp: &Tcp) {
        if self.packets.is_empty() {
            self.first = tcp.seq;
        }
        let end = tcp.seq.wrapping_sub(self.first).wrapping_add(tcp.payload_bytes);
        if end <= self.newest {
            self.pending = self.newest;
        }
        self.newest = self.newest.max(end);
        self.packets.push(Sent {
            frame,
            at,
            end,
            bytes: tcp.payload_bytes,
            chunk: self.chunk,
            trip: None,
        });
    }

    /// What comes now is the next chunk.
    fn on_data_of_other_end(&mut self) {
        let last = self.packets.last().map(|packet| packet.chunk);
        self.chunk = last.map_or(self.chunk, |last| last + 1);
    }

    fn on_ack(&mut self, at: Time, ack: u32) {
        let ack = ack.wrapping_sub(self.first);
        let is_waiting = self.pending > 0;
        while let Some(packet) =
            self.packets.get_mut(self.acknowledged).filter(|packet| packet.end <= ack)
        {
            packet.trip = (!is_waiting).then_some(at - packet.at);
            self.acknowledged += 1;
        }
        if ack >= self.pending {
            self.pending = 0;
        }
    }
}

/// The test on the packets of a chunk, without so many of the first and the last losses.
fn judge(packets: &[Sent], left_out: usize, is_lost: impl Fn(&Sent) -> bool) -> Verdict {
    let ruled_out = Verdict::NotPoliced;
    let mut losses =
        packets.iter().enumerate().filter(|(_, packet)| is_lost(packet)).map(|(place, _)| place);
    let (Some(first), Some(last)) = (losses.nth(left_out), losses.nth_back(left_out)) else {
        return ruled_out(Why::FewLosses);
    };
    let begun = packets[first].at;
    let lasted = (packets[last].at - begun).as_secs_f64();
    if lasted <= 0.0 {
        return ruled_out(Why::FewLosses);
    }
    let start = |packet: &Sent| f64::from(packet.end.saturating_sub(packet.bytes));
    let before_first = start(&packets[first]) - start(&packets[0]);
    if before_first > LATEST_LOSS_BYTES {
        return ruled_out(Why::LateLoss);
    }
    let passed: f64 = packets[first..last]
        .iter()
        .filter(|packet| !is_lost(packet))
        .map(|one| f64::from(one.bytes))
        .sum();
    let rate = passed / lasted;
    let mut trips: Vec<f64> =
        packets.iter().filter_map(|packet| Some(packet.trip?.as_secs_f64())).collect();
    let rtt = median(&mut trips).unwrap_or(0.0);
    let near_at_loss = NEAR_AT_LOSS * rtt * rate;
    let near_at_pass = NEAR_AT_PASS * rtt * rate;
    if before_first - rate * (begun - packets[0].at).as_secs_f64() < -near_at_pass {
        return ruled_out(Why::NegativeFill);
    }
    let mut at_loss = Vec::new();
    let mut at_pass = Vec::new();
    let mut used = 0.0;
    let mut round_trips = 1;
    let mut round_ends = begun + Span::from_secs_f64_rounded(rtt);
    for packet in &packets[first..] {
        let tokens = rate * (packet.at - begun).as_secs_f64() - used;
        if !is_lost(packet) {
            at_pass.push(tokens);
            used += f64::from(packet.bytes);
            continue;
        }
        at_loss.push(tokens);
        if packet.at > round_ends {
            round_ends = packet.at + Span::from_secs_f64_rounded(rtt);
            round_trips += 1;
        }
    }
    if round_trips < FEWEST_ROUND_TRIPS || at_loss.len().min(at_pass.len()) < FEWEST_PACKETS {
        return ruled_out(Why::FewLosses);
    }
    let means = [&at_loss, &at_pass].map(|tokens| tokens.iter().sum::<f64>() / tokens.len() as f64);
    let [Some(loss), Some(pass)] = [&mut at_loss, &mut at_pass].map(|tokens| median(tokens)) else {
        return ruled_out(Why::FewLosses);
    };
    if means[0] >= means[1] || loss >= pass {
        return ruled_out(Why::FullerAtLosses);
    }
    let share = |tokens: &[f64], is_far: &dyn Fn(f64) -> bool| {
        tokens.iter().filter(|&&tokens| is_far(tokens - loss)).count() as f64 / tokens.len() as f64
    };
    if share(&at_loss, &|above| above.abs() > near_at_loss) > FAR_AT_LOSS {
        return ruled_out(Why::LossesOutOfRange);
    }
    if share(&at_pass, &|above| above < -near_at_pass) > FAR_AT_PASS {
        return ruled_out(Why::PassesOutOfRange);
    }
    if after_long_trips(packets, &is_lost) > AFTER_LONG {
        return ruled_out(Why::LongTrips);
    }
    Verdict::Policed { rate_bps: rate * 8.0 }
}

/// The share of losses before which the trip time was long, among those until then.
fn after_long_trips(packets: &[Sent], is_lost: impl Fn(&Sent) -> bool) -> f64 {
    let (mut trips, mut sorted): (Vec<Span>, Vec<Span>) = (Vec::new(), Vec::new());
    let mut long = 0;
    let mut all = 0;
    for packet in packets {
        if let Some(trip) = packet.trip {
            trips.push(trip);
            sorted.insert(sorted.partition_point(|other| *other <= trip), trip);
        }
        if !is_lost(packet) {
            continue;
        }
        all += 1;
        // The newest one may be the loss's own.
        let Some(trip) = trips.len().checked_sub(2).map(|place| trips[place]) else { continue };
        let quantile = |share: f64| sorted[(share * (sorted.len() - 1) as f64) as usize];
        let is_long = trip >= quantile(0.5)
            && trip.as_secs_f64() > LONG * quantile(0.1).as_secs_f64()
            && trip >= LONGEST_SHORT;
        long += u32::from(is_long);
    }
    f64::from(long) / f64::from(all.max(1))
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    statistics::median(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minute of packets of 1,000 bytes whose rate rises and falls every 4 s, 20 ms of trip time;
    /// `drops` gets the millisecond.
    fn verdict(trip_ms: impl Fn(u64) -> i64, mut drops: impl FnMut(u64) -> bool) -> Verdict {
        let mut packets = Vec::new();
        let mut lost = Vec::new();
        let mut due = 0;
        for ms in 0..60_000 {
            let phase = ms % 4_000;
            due += 50 + phase.min(4_000 - phase) / 2;
            if due < 3_000 {
                continue;
            }
            due -= 3_000;
            let number = packets.len() as u32;
            let is_dropped = drops(ms);
            lost.push(is_dropped);
            packets.push(Sent {
                frame: u64::from(number),
                at: Time::ZERO + Span::from_millis(ms as i64),
                end: 1_000 * (number + 1),
                bytes: 1_000,
                chunk: 0,
                trip: (!is_dropped).then(|| Span::from_millis(trip_ms(ms))),
            });
        }
        judge(&packets, 0, |packet| lost[packet.frame as usize])
    }

    /// A bucket of 20 kB that fills by 130 bytes in a millisecond.
    fn bucket() -> impl FnMut(u64) -> bool {
        let mut tokens = 20_000;
        let mut filled_ms = 0;
        move |ms| {
            tokens = (tokens + 130 * (ms - filled_ms)).min(20_000);
            filled_ms = ms;
            let passes = tokens >= 1_000;
            tokens -= if passes { 1_000 } else { 0 };
            !passes
        }
    }

    #[test]
    fn a_bucket_that_never_fills_up_is_found_and_its_rate_told() {
        // Packets always come faster than the bucket fills, so that its tokens never overflow.
        let mut packets = Vec::new();
        let mut lost = Vec::new();
        let mut tokens = 30_000.0_f64;
        for number in 0..6_000_u32 {
            tokens += 500.0;
            let passes = tokens >= 1_000.0;
            tokens -= if passes { 1_000.0 } else { 0.0 };
            lost.push(!passes);
            let at = Time::ZERO + Span::from_millis(5 * i64::from(number));
            let trip = passes.then(|| Span::from_millis(40));
            packets.push(Sent {
                frame: number.into(),
                at,
                end: 1_000 * (number + 1),
                bytes: 1_000,
                chunk: 0,
                trip,
            });
        }
        match judge(&packets, 0, |packet| lost[packet.frame as usize]) {
            Verdict::Policed { rate_bps } => {
                assert!((rate_bps - 800_000.0).abs() < 8_000.0, "{rate_bps}");
            }
            verdict => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn losses_at_any_fill_are_no_policers() {
        let mut state = 1_u64;
        let verdict = verdict(
            |_| 20,
            |_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33).is_multiple_of(50)
            },
        );
        assert!(matches!(verdict, Verdict::NotPoliced(_)), "{verdict:?}");
    }

    #[test]
    fn long_trips_before_losses_rule_a_policer_out() {
        let verdicts = [20, 300].map(|at_crest| {
            let trip_ms =
                |ms: u64| if (1_000..3_000).contains(&(ms % 4_000)) { at_crest } else { 20 };
            verdict(trip_ms, bucket())
        });
        assert_ne!(verdicts[0], Verdict::NotPoliced(Why::LongTrips), "{verdicts:?}");
        assert!(matches!(verdicts[1], Verdict::NotPoliced(_)), "{verdicts:?}");
    }

    #[test]
    fn few_losses_and_a_late_first_loss_tell_nothing() {
        // One loss in half a second, so many.
        let some = |most: u64| {
            let mut losses = 0;
            verdict(
                |_| 20,
                |ms| {
                    let is_due = losses < most && ms >= 500 * losses;
                    losses += u64::from(is_due);
                    is_due
                },
            )
        };
        assert_eq!(some(14), Verdict::NotPoliced(Why::FewLosses));
        assert_ne!(some(15), Verdict::NotPoliced(Why::FewLosses));
        let mut losses = 0;
        let late = verdict(
            |_| 20,
            |ms| {
                losses += u32::from(ms > 30_000);
                ms > 30_000 && losses.is_multiple_of(20)
            },
        );
        assert_eq!(late, Verdict::NotPoliced(Why::LateLoss));
    }
}

//! How fast a direction's data went, and what held them up, as their sender's side sees it.
//!
//! Between two packets of a connection a sender
//!
//! - had *nothing in flight*: all its data were acknowledged, and the application gave it no more;
//! - *filled the receiver's window*: with a packet more it would have sent more than the window
//!   takes;
//! - or waited for the path: its congestion window, a loss, the link's own rate.
//!
//! A *stall* is the longest time in which data were in flight and nothing passed in either
//! direction.
//!
//! The rate is counted in steps of at least an eighth of a second, which become twice as long when
//! there are too many.

use losscause::{Span, Time};

/// The pace of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// The first and the last packet.
    times: Option<(Time, Time)>,
    /// Nothing was in flight.
    pub(crate) idle: Span,
    /// The receiver's window was full.
    pub(crate) window_full: Span,
    /// The longest stall and when it began.
    pub(crate) stall: Option<(Time, Span)>,
    /// The shortest and the longest round trip.
    pub(crate) rtt: Option<(Span, Span)>,
    rate: Rate,
}

/// What a sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::enum_variant_names)] // A sender waits for something.
pub(super) enum Waits {
    /// For its application: nothing is in flight.
    ForData,
    /// For the receiver: its window is full.
    ForReceiver,
    /// For the path.
    ForPath,
}

impl Pace {
    /// A packet passed at `now`; until then the sender waited so.
    #[inline]
    pub(super) fn on_packet(&mut self, now: Time, waited: Waits) {
        let Some((_, last)) = &mut self.times else {
            self.times = Some((now, now));
            return;
        };
        let since = now - *last;
        if since <= Span::ZERO {
            return;
        }
        match waited {
            Waits::ForData => self.idle += since,
            Waits::ForReceiver => self.window_full += since,
            Waits::ForPath => {}
        }
        if waited != Waits::ForData && self.stall.is_none_or(|(_, longest)| since > longest) {
            self.stall = Some((*last, since));
        }
        *last = now;
    }

    /// New data passed.
    #[inline]
    pub(super) fn on_new_data(&mut self, now: Time, bytes: u64) {
        self.rate.take(now, bytes);
    }

    pub(super) fn on_rtt(&mut self, rtt: Span) {
        let (shortest, longest) = self.rtt.unwrap_or((rtt, rtt));
        self.rtt = Some((shortest.min(rtt), longest.max(rtt)));
    }

    /// From the first packet to the last.
    pub(crate) fn lasted(&self) -> Span {
        self.times.map_or(Span::ZERO, |(first, last)| last - first)
    }

    /// When the first packet passed.
    pub(crate) fn begun(&self) -> Option<Time> {
        self.times.map(|(first, _)| first)
    }

    /// When the first of these steps begins.
    pub(crate) fn rates_from(&self) -> Option<Time> {
        self.rate.begun
    }

    /// The rate in each step between the first and the last new data, bits per second; none of less
    /// than three whole steps.
    pub(crate) fn rates(&self) -> Option<(Vec<f64>, Span)> {
        self.rate.steps()
    }
}

/// Steps that are kept: enough for a median.
const STEPS: usize = 64;
/// The first steps last 2 to this power, nanoseconds: 134 ms.
const FIRST_SHIFT: u32 = 27;

/// Bytes over time, in steps of one length.
#[derive(Clone, Debug)]
struct Rate {
    begun: Option<Time>,
    shift: u32,
    newest: usize,
    bytes: [f32; STEPS],
}

impl Default for Rate {
    fn default() -> Self {
        Self { begun: None, shift: FIRST_SHIFT, newest: 0, bytes: [0.0; STEPS] }
    }
}

impl Rate {
    #[inline]
    fn take(&mut self, now: Time, bytes: u64) {
        let begun = *self.begun.get_or_insert(now);
        let after = (now - begun).as_nanos().max(0);
        while after >> self.shift >= STEPS as i64 {
            self.double();
        }
        let step = (after >> self.shift) as usize;
        self.newest = self.newest.max(step);
        self.bytes[step] += bytes as f32;
    }

    #[cold]
    fn double(&mut self) {
        let before = self.bytes;
        self.bytes = [0.0; STEPS];
        for (step, bytes) in before.into_iter().enumerate() {
            self.bytes[step / 2] += bytes;
        }
        (self.shift, self.newest) = (self.shift + 1, self.newest / 2);
    }

    /// The last step is not whole.
    fn steps(&self) -> Option<(Vec<f64>, Span)> {
        let length = Span::from_nanos(1_i64.checked_shl(self.shift)?);
        let whole = self.bytes.get(..self.newest)?;
        let rates =
            whole.iter().map(|&bytes| 8.0 * f64::from(bytes) / length.as_secs_f64()).collect();
        (whole.len() >= 3).then_some((rates, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    #[test]
    fn time_goes_to_what_the_sender_awaits_and_silence_is_a_stall() {
        let mut pace = Pace::default();
        pace.on_packet(at(100), Waits::ForData);
        pace.on_packet(at(140), Waits::ForPath);
        pace.on_packet(at(3_000), Waits::ForData);
        pace.on_packet(at(3_500), Waits::ForReceiver);
        pace.on_packet(at(3_600), Waits::ForPath);
        assert_eq!(
            (pace.lasted(), pace.idle),
            (Span::from_millis(3_500), Span::from_millis(2_860))
        );
        assert_eq!(pace.window_full, Span::from_millis(500));
        assert_eq!(pace.stall, Some((at(3_000), Span::from_millis(500))));
    }

    #[test]
    fn rates_are_those_of_whole_steps_however_long_the_flow_is() {
        // 1,250 bytes every 10 ms: 1 Mb/s.
        for seconds in [1, 30, 1_000] {
            let mut pace = Pace::default();
            (0..100 * seconds).for_each(|k| pace.on_new_data(at(10 * k), 1_250));
            let (rates, step) = pace.rates().unwrap();
            assert!(
                rates.len() < STEPS && step.as_secs_f64() * STEPS as f64 >= seconds as f64,
                "{step:?}"
            );
            assert!(rates.iter().all(|rate| (0.9e6..1.1e6).contains(rate)), "{rates:?}");
        }
        let mut short = Pace::default();
        [0, 5, 300].into_iter().for_each(|ms| short.on_new_data(at(ms), 1_000));
        assert_eq!(short.rates(), None);
    }
}

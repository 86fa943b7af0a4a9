//! When a packet was sent, by the sender's clock: the ticks of a timestamp, unwrapped and turned
//! into time.
//!
//! TCP's timestamps (RFC 7323, section 5.4: a tick of 1 ms to 1 s) and RTP's (the payload's clock)
//! name no rate. The clock finds it by holding ticks against arrival times, and takes the nearest
//! of the rates in use, but none far below what it measured: a queue that grows spreads the
//! arrivals, as at every transfer's start, so the measured rate is too low, never much too high.
//! Until then the clock tells no time: a wrong rate would drift by more than any queue.

use losscause::{Span, Time};

/// A sender's clock, read from the timestamps of its packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct SenderClock {
    rates_hz: &'static [u32],
    long_enough: Span,
    first: Option<(u32, Time)>,
    /// The newest ticks, unwrapped.
    ticks: i64,
    /// From the first timestamp to the last one.
    elapsed: Span,
    commonest_hz: u32,
    rate_hz: Option<u32>,
    counts_frames: bool,
}

/// Ticks per second of TCP timestamps: 1 ms (Linux, Windows), 4 and 10 ms (older ones), 0.5 s, and
/// 1 µs (Linux with `tcp_usec_ts`).
const TCP_HZ: [u32; 5] = [2, 100, 250, 1_000, 1_000_000];
/// Ticks per second of RTP timestamps: telephony, audio, video (RFC 3551, section 6).
const RTP_HZ: [u32; 7] = [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 90_000];
/// Ticks per second of SRT's timestamps (draft-sharabayko-srt-01, section 3).
const SRT_HZ: [u32; 1] = [1_000_000];

impl SenderClock {
    /// A clock of TCP timestamps.
    pub(crate) fn tcp() -> Self {
        Self::of(&TCP_HZ, LONG_ENOUGH, 1_000)
    }

    /// A clock of RTP timestamps.
    pub(crate) fn rtp() -> Self {
        // The rates lie close to each other, so that more time is needed to tell them apart.
        Self { counts_frames: true, ..Self::of(&RTP_HZ, Span::from_millis(500), 90_000) }
    }

    /// A clock of SRT timestamps, which all packets of a message share.
    pub(crate) fn srt() -> Self {
        Self {
            counts_frames: true,
            rate_hz: Some(SRT_HZ[0]),
            ..Self::of(&SRT_HZ, LONG_ENOUGH, SRT_HZ[0])
        }
    }

    fn of(rates_hz: &'static [u32], long_enough: Span, commonest_hz: u32) -> Self {
        Self { rates_hz, long_enough, commonest_hz, ..Self::default() }
    }

    /// Takes in a timestamp that arrived at `now`. Returns the rate, once the time between
    /// timestamps is long enough to tell it.
    pub(crate) fn observe(&mut self, timestamp: u32, now: Time) -> Option<u32> {
        if self.rate_hz.is_none() {
            let (_, begun) = *self.first.get_or_insert((timestamp, now));
            self.ticks = self.ticks.max(self.unwrap(timestamp));
            self.elapsed = now - begun;
            if self.elapsed >= self.long_enough && self.ticks > 0 {
                self.settle();
            }
        }
        self.rate_hz
    }

    /// Takes the rate that what was observed so far tells; the commonest one if that is too little
    /// to tell.
    pub(crate) fn settle(&mut self) {
        if self.rate_hz.is_some() {
            return;
        }
        let commonest = self.commonest_hz;
        if self.elapsed < TOO_SHORT || self.ticks <= 0 {
            self.rate_hz = Some(commonest);
            return;
        }
        let measured = self.ticks as f64 / self.elapsed.as_secs_f64();
        let slower = self.rates_hz.windows(2).take_while(|pair| {
            let rate = f64::from(pair[0]);
            let faster = f64::from(pair[1]);
            measured > (rate * faster).sqrt().min((rate * MOST_ABOVE).max(faster / MOST_BELOW))
        });
        self.rate_hz = self.rates_hz.get(slower.count()).copied().or(Some(commonest));
    }

    /// When a packet with this timestamp, which arrived at `now`, was sent. The clock's zero is the
    /// first timestamp. None as long as the rate is not known.
    #[inline]
    pub(crate) fn read(&mut self, timestamp: u32, now: Time) -> Option<Time> {
        let rate = match self.rate_hz {
            Some(rate) => rate,
            None => self.observe(timestamp, now)?,
        };
        let ticks = self.unwrap(timestamp);
        self.ticks = self.ticks.max(ticks);
        let nanos = match rate {
            1_000 => ticks.wrapping_mul(1_000_000),
            rate => (i128::from(ticks) * 1_000_000_000 / i128::from(rate)) as i64,
        };
        Some(Time::from_nanos(nanos))
    }

    #[inline]
    fn unwrap(&self, timestamp: u32) -> i64 {
        let first = self.first.map_or(0, |(first, _)| first);
        let step = timestamp.wrapping_sub(first.wrapping_add(self.ticks as u32)) as i32;
        self.ticks + i64::from(step)
    }

    /// Whether a timestamp is that of a frame, which all packets of the frame share.
    pub(crate) fn counts_frames(&self) -> bool {
        self.counts_frames
    }

    /// Ticks per second, once known.
    pub(crate) fn rate_hz(&self) -> Option<u32> {
        self.rate_hz
    }
}

/// Long beside the delays of a path, so that they do not blur the rate, and short beside a
/// transfer.
const LONG_ENOUGH: Span = Span::from_millis(300);
/// A clock is hardly measured to be so many times as fast as it is: queues would have to empty, or
/// the first packet to wait for the link.
const MOST_ABOVE: f64 = 1.25;
/// Nor so many times as slow, however a queue grows: so a first packet that waited makes no clock
/// of milliseconds one of microseconds.
const MOST_BELOW: f64 = 30.0;
/// Too short to tell anything.
const TOO_SHORT: Span = Span::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    #[test]
    fn the_rate_is_the_nearest_in_use_although_the_queue_grows() {
        for (hz, expected) in [(1_000, 1_000), (250, 250), (100, 100), (1_000_000, 1_000_000)] {
            let mut clock = SenderClock::tcp();
            let mut last = None;
            for i in 0..40_i64 {
                // A packet every 10 ms; each waits 2 ms longer than the one before it.
                last = clock.read((i * 10 * hz / 1_000) as u32, at(12 * i)).or(last);
            }
            assert_eq!(clock.rate_hz(), Some(expected));
            // Sent at 390 ms; the ticks round down.
            let sent_ms = last.map_or(0, Time::as_nanos) / 1_000_000;
            assert!((390 - 1_000 / hz..=390).contains(&sent_ms), "{sent_ms} ms at {hz} Hz");
        }
    }

    #[test]
    fn a_first_window_in_a_slow_links_queue_does_not_slow_the_clock() {
        // 10 packets sent at once after a round trip of 46 ms take 6 ms each on the link; each
        // arrival lets two more go.
        let mut clock = SenderClock::tcp();
        let mut last = clock.observe(0, at(0));
        for i in 0..60_i64 {
            let arrived = 46 + 6 * i;
            let sent = if i < 10 { 46 } else { 46 + 6 * ((i - 10) / 2) + 40 };
            last = clock.observe(sent as u32, at(arrived));
        }
        assert_eq!(last, Some(1_000));
    }

    #[test]
    fn a_first_packet_that_waited_does_not_quicken_the_clock() {
        // The SYN waits 900 ms for a radio; the others take 20 ms, one every 10 ms from 950 ms on.
        let mut clock = SenderClock::tcp();
        clock.observe(0, at(900));
        let last =
            (0..40_i64).map(|i| clock.observe((950 + 10 * i) as u32, at(970 + 10 * i))).last();
        assert_eq!(last, Some(Some(1_000)));
    }

    #[test]
    fn timestamps_wrap() {
        let mut clock = SenderClock::tcp();
        (0..400).for_each(|i| _ = clock.read((u32::MAX - 100).wrapping_add(i), at(i64::from(i))));
        assert_eq!(clock.read(u32::MAX.wrapping_add(301), at(401)), Some(at(401)));
        assert_eq!(
            clock.read(u32::MAX, at(402)),
            Some(at(100)),
            "an older packet was sent earlier"
        );
    }
}

//! What passes between two hosts, over all their connections: a policer's bucket serves them
//! together.

use std::collections::VecDeque;

use losscause::diagnosis::{BucketTest, LostPacket, Moments, OneRate, PolicerTest};
use losscause::{Span, Time};
use losscause_capture::{Course, Departures};

use super::sent::Sent;

/// One direction between two hosts.
#[derive(Debug)]
pub(super) struct Path {
    begun: Time,
    /// Bytes that were sent, headers included.
    sent_bytes: u64,
    /// From the first loss on.
    losses: Option<Box<Losses>>,
    /// Connections that use it.
    pub(super) connections: usize,
}

/// A path's losses, and what else was sent.
#[derive(Debug)]
struct Losses {
    /// When the last one counted, or the first was seen.
    last: Time,
    count: u64,
    /// Bytes of those.
    bytes: u64,
    test: PolicerTest,
    /// When data left, and what had been sent before, bytes.
    course: Course,
    /// The bytes that were sent before each lost packet, and its data.
    lost: VecDeque<(u64, u64)>,
    /// Losses that met a queue that is known, and a short one.
    met: u64,
    met_short: u64,
    round_trip: Span,
    /// How many had counted when this was asked, and what it said.
    asked: u64,
    one_rate: Option<OneRate>,
    moments: Option<Option<Moments>>,
}

/// Losses that are kept one by one: as many as matter beside the packets of a [`Course`].
const MOST_LOST: usize = 4_096;
/// What every packet says is asked again when a quarter more were lost: it takes milliseconds.
const MORE: u64 = 4;

impl Path {
    pub(super) fn new(begun: Time) -> Self {
        Self { begun, sent_bytes: 0, losses: None, connections: 0 }
    }

    /// Bytes are sent. Returns how many were sent before.
    pub(super) fn on_sent(&mut self, bytes: u64) -> u64 {
        let before = self.sent_bytes;
        self.sent_bytes += bytes;
        before
    }

    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// When this was sent, in packets of so many bytes, is known by now.
    pub(super) fn on_left(&mut self, sent: &Sent, packet_bytes: u64) {
        let Some(losses) = &mut self.losses else { return };
        let count = u64::from(sent.bytes).div_ceil(packet_bytes.max(1)) as i64;
        for place in 0..count {
            let at = sent.from + (sent.at - sent.from) * (place + 1) / count;
            losses.course.on_packet(at, sent.path_bytes + place as u64 * packet_bytes);
        }
    }

    /// A packet of `bytes` is missing, which may count as lost later.
    pub(super) fn on_missing(&mut self, now: Time, bytes: u64) {
        self.losses.get_or_insert_with(|| {
            Box::new(Losses {
                last: now,
                count: 0,
                bytes: 0,
                test: PolicerTest::new(self.begun, bytes),
                course: Course::default(),
                lost: VecDeque::new(),
                met: 0,
                met_short: 0,
                round_trip: Span::ZERO,
                asked: 0,
                one_rate: None,
                moments: None,
            })
        });
    }

    /// A packet was lost that was sent behind `sent_bytes` others and has so many bytes, and so many
    /// of data.
    pub(super) fn on_loss(&mut self, lost: &LostPacket, sent_bytes: u64, [bytes, data]: [u64; 2]) {
        let Some(losses) = &mut self.losses else { return };
        losses.test.on_loss(lost.at, sent_bytes.saturating_sub(losses.bytes), lost.rtt);
        losses.bytes += bytes;
        losses.count += 1;
        losses.last = losses.last.max(lost.at);
        losses.round_trip = lost.rtt.unwrap_or(losses.round_trip);
        losses.met += u64::from(lost.queue.is_some());
        losses.met_short += u64::from(lost.queue.is_some_and(|queue| queue.may_be_policed()));
        if losses.lost.len() >= MOST_LOST {
            losses.lost.pop_front();
        }
        losses.lost.push_back((sent_bytes, data));
    }

    /// The rate that most time between losses agrees on, and what every packet says of a bucket; the
    /// latter is asked seldom unless it `is_last`.
    pub(super) fn one_rate(&mut self, is_last: bool) -> Option<OneRate> {
        let losses = self.losses.as_mut()?;
        if losses.count == losses.asked {
            return losses.one_rate;
        }
        let before = losses.one_rate.map_or(BucketTest::NotTested, |one_rate| one_rate.bucket);
        let one_rate = losses.test.one_rate();
        let is_due = is_last || losses.count * MORE >= losses.asked * (MORE + 1);
        if !is_due {
            return one_rate.map(|one_rate| OneRate { bucket: before, ..one_rate });
        }
        (losses.asked, losses.moments) = (losses.count, None);
        let may_be_policed = losses.met_short * 2 > losses.met;
        let bucket = || losses.departures().map(|departures| departures.bucket());
        losses.one_rate = one_rate.map(|one_rate| match may_be_policed {
            true => OneRate { bucket: bucket().unwrap_or(BucketTest::NotTested), ..one_rate },
            false => one_rate,
        });
        losses.one_rate
    }

    /// How the moments of the losses rank, as of the last time that every packet was asked.
    pub(super) fn moments(&mut self) -> Option<Moments> {
        let losses = self.losses.as_mut()?;
        if losses.moments.is_none() {
            let departures = losses.departures();
            losses.moments =
                Some(departures.and_then(|departures| departures.moments(losses.round_trip)));
        }
        losses.moments.flatten()
    }

    /// When it lost something last, if packets are kept one by one.
    pub(super) fn last_loss(&self) -> Option<Time> {
        Some(self.losses.as_ref()?.last)
    }

    /// Frees what takes memory, until further losses.
    pub(super) fn forget_losses(&mut self) {
        self.losses = None;
    }
}

impl Losses {
    fn departures(&self) -> Option<Departures> {
        let mut lost: Vec<(u64, u64)> = self.lost.iter().copied().collect();
        lost.sort_unstable();
        let payload = lost.iter().map(|lost| lost.1).max()?;
        let courses = std::iter::once(&self.course);
        Some(Departures::of(courses, lost.into_iter(), payload, None)?.by_time())
    }
}

#[cfg(test)]
mod tests {
    use losscause::diagnosis::QueueSeen;

    use super::*;

    /// Sends packets of 948 bytes with 52 of headers at these ms.
    fn sent(path: &mut Path, ms: impl Iterator<Item = i64>, mut drops: impl FnMut(i64) -> bool) {
        for ms in ms {
            let at = Time::ZERO + Span::from_millis(ms);
            let is_lost = drops(ms);
            let data = [0; 2];
            let send = |path: &mut Path| {
                let path_bytes = path.on_sent(1_000);
                path.on_left(
                    &Sent { data, from: at, at, path_bytes, bytes: 1_000, flight_pkts: 9 },
                    1_000,
                );
                path_bytes
            };
            if !is_lost {
                send(path);
                continue;
            }
            path.on_missing(at, 1_000);
            let path_bytes = send(path);
            let lost = LostPacket {
                at,
                is_by_timer: false,
                flight_pkts: Some(9),
                rtt: Some(Span::from_millis(20)),
                queue: Some(QueueSeen::default()),
            };
            path.on_loss(&lost, path_bytes, [1_000, 948]);
        }
    }

    #[test]
    fn a_bucket_of_one_rate_fits_what_left_and_what_was_lost() {
        // A bucket of 30 kB that fills at 240 kB/s. A burst comes every 2 s, then 250 kB/s.
        let sends = |ms: &i64| match ms % 2_000 {
            0..300 => false,
            300..340 => true,
            _ => ms % 4 == 0,
        };
        let mut tokens = 30_000.0_f64;
        let mut filled = 0;
        let drops = |ms: i64| {
            tokens = (tokens + 240.0 * (ms - filled) as f64).min(30_000.0);
            filled = ms;
            let is_lost = tokens < 1_000.0;
            tokens -= if is_lost { 0.0 } else { 1_000.0 };
            is_lost
        };
        let mut path = Path::new(Time::ZERO);
        sent(&mut path, (0..20_000).filter(sends), drops);
        let one_rate = path.one_rate(true).expect("many losses");
        let BucketTest::Fits(buckets) = one_rate.bucket else { panic!("{one_rate:?}") };
        assert!((28_000..32_000).contains(&buckets.least_bytes), "{buckets:?}");
        let rate_bps = buckets.rate_bps().expect("near one rate");
        assert!((1_800_000..2_100_000).contains(&rate_bps), "{rate_bps}");
        assert!(path.moments().is_some(), "many losses");
    }

    #[test]
    fn every_packet_is_asked_again_when_a_quarter_more_were_lost() {
        let mut path = Path::new(Time::ZERO);
        let mut lose = |from: i64, to: i64, is_last: bool| {
            sent(&mut path, 10 * from..10 * to, |ms| ms % 10 == 0);
            path.one_rate(is_last);
            path.losses.as_ref().map(|losses| losses.asked)
        };
        assert_eq!(lose(0, 100, false), Some(100));
        assert_eq!(lose(100, 124, false), Some(100));
        assert_eq!(lose(124, 125, false), Some(125));
        assert_eq!(lose(125, 126, true), Some(126));
        path.forget_losses();
        assert_eq!((path.last_loss(), path.one_rate(true)), (None, None));
    }
}

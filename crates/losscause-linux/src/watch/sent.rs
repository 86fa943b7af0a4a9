//! When a connection's data left.
//!
//! The kernel does not say that of each packet. A sample says how far the sender was when the next
//! acknowledgement came: what it sent since the last sample left after this one's acknowledgement.
//! And it has the kernel's own time of the newest packet that has arrived (RACK, RFC 8985). Data
//! between two such packets left between them; data that one acknowledgement made the sender send
//! left at one pace: at once if nothing paces it.

use std::collections::VecDeque;

use losscause::Time;

/// What was sent and is not acknowledged.
#[derive(Debug, Default)]
pub(super) struct SentLog {
    entries: VecDeque<Sent>,
    /// The last packet, by its number, that arrived in its first copy: when it left, and the byte
    /// behind it.
    arrived: Option<(Time, u64)>,
}

/// What was sent at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// New data from the first byte to behind the last one; of data that are sent again both are
    /// behind the newest byte so far.
    pub(super) data: [u64; 2],
    /// Not before this time.
    pub(super) from: Time,
    /// When its last packet left, as far as that is known; the others left evenly before.
    pub(super) at: Time,
    /// What had been sent on the path before, bytes.
    pub(super) path_bytes: u64,
    /// And what this is, with headers.
    pub(super) bytes: u32,
    /// Packets in flight behind it.
    pub(super) flight_pkts: u32,
}

/// Entries that are kept at most; more become fewer.
const MOST: usize = 512;

impl SentLog {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// When the newest data left, as far as that is known.
    #[cfg(test)]
    pub(super) fn last_at(&self) -> Option<Time> {
        Some(self.entries.back()?.at)
    }

    /// Of a large flight two entries become one.
    pub(super) fn push(&mut self, sent: Sent) {
        if self.entries.len() >= MOST {
            let mut earlier: Option<Sent> = None;
            self.entries.retain_mut(|entry| {
                let Some(first) = earlier.take() else {
                    earlier = Some(*entry);
                    return false;
                };
                (entry.data[0], entry.from) = (first.data[0], first.from);
                entry.path_bytes = first.path_bytes;
                entry.bytes += first.bytes;
                true
            });
        }
        self.entries.push_back(sent);
    }

    /// The first copy of a packet arrived that left at `at`; `end` is the byte behind it.
    pub(super) fn on_arrival(&mut self, at: Time, end: u64, mss: u64) {
        let (earliest, known) = self.arrived.unwrap_or((Time::ZERO, 0));
        if end <= known || at < earliest {
            return;
        }
        self.arrived = Some((at, end));
        let first = self.entries.partition_point(|entry| entry.data[1] <= known);
        let last = self.entries.partition_point(|entry| entry.data[1] < end);
        let Some(entry) = self.entries.get(last).copied().filter(|entry| entry.data[0] < end)
        else {
            return;
        };
        let from = entry.from.min(at);
        let pace = |bytes: u64| (at - from) * bytes as i64 / (end - entry.data[0]) as i64;
        let arrived = Sent { from, at, ..entry.until(end, mss) };
        let rest = entry.data[1] - end;
        let rest = Sent {
            data: [end, entry.data[1]],
            from: entry.from.max(at),
            at: entry.from.max(at) + pace(rest),
            path_bytes: entry.path_bytes + u64::from(arrived.bytes),
            bytes: entry.bytes - arrived.bytes,
            ..entry
        };
        // What lies between left as fast where nothing of it arrived.
        let mut latest = from;
        for place in (first..last).rev() {
            let entry = &mut self.entries[place];
            let [start, behind] = entry.data;
            entry.from = entry.from.max(earliest).min(latest);
            let paced = if start == known { entry.at } else { entry.from + pace(behind - start) };
            entry.at = paced.max(entry.from).min(latest);
            latest = entry.from;
        }
        if rest.data[0] == rest.data[1] {
            self.entries[last] = arrived;
        } else {
            self.entries[last] = rest;
            self.entries.insert(last, arrived);
        }
    }

    /// What was sent first with the byte at `start`, and what was sent next.
    pub(super) fn of(&self, start: u64) -> Option<(&Sent, Option<&Sent>)> {
        let place = self.entries.partition_point(|entry| entry.data[1] <= start);
        Some((self.entries.get(place)?, self.entries.get(place + 1)))
    }

    /// All before `una` is acknowledged: what was sent until then, in its order.
    pub(super) fn take_below(&mut self, una: u64) -> impl Iterator<Item = Sent> + '_ {
        let count = self.entries.partition_point(|entry| entry.data[1] <= una);
        self.entries.drain(..count)
    }
}

impl Sent {
    /// Of new data, what is sent before the byte at `end`.
    pub(super) fn until(&self, end: u64, mss: u64) -> Self {
        let [start, last] = self.data;
        let end = end.clamp(start, last);
        let of_all = (last - start).max(1);
        let bytes = u64::from(self.bytes) * (end - start) / of_all;
        let at = self.from + (self.at - self.from) * (end - start) as i64 / of_all as i64;
        // Between samples more may be sent than is in flight at a time.
        let pkts_behind = ((last - end) / mss.max(1)) as u32;
        let flight_pkts = self.flight_pkts.checked_sub(pkts_behind).unwrap_or(self.flight_pkts);
        Self { data: [start, end], at, bytes: bytes as u32, flight_pkts, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn sent(data: [u64; 2], ms: i64) -> Sent {
        let bytes = (data[1] - data[0]) as u32 * 3 / 2;
        Sent { data, from: at(ms), at: at(ms), path_bytes: data[0] * 3 / 2, bytes, flight_pkts: 10 }
    }

    fn told(log: &SentLog) -> Vec<([u64; 2], Time, u64, u32)> {
        let told = |sent: &Sent| (sent.data, sent.at, sent.path_bytes, sent.bytes);
        log.entries.iter().map(told).collect()
    }

    #[test]
    fn packets_left_between_those_that_arrived_around_them() {
        let mut log = SentLog::default();
        // Packets of 1,000 bytes; what is sent behind an acknowledgement leaves when it may.
        [([0, 4_000], 0), ([4_000, 8_000], 10), ([8_000, 12_000], 20)]
            .into_iter()
            .for_each(|(data, ms)| log.push(sent(data, ms)));
        log.on_arrival(at(3), 2_000, 1_000);
        // The packet at 5,000 arrives, of those before it nothing was heard.
        log.on_arrival(at(14), 6_000, 1_000);
        assert_eq!(
            told(&log),
            [
                ([0, 2_000], at(3), 0, 3_000),
                ([2_000, 4_000], at(6), 3_000, 3_000),
                ([4_000, 6_000], at(14), 6_000, 3_000),
                ([6_000, 8_000], at(18), 9_000, 3_000),
                ([8_000, 12_000], at(20), 12_000, 6_000),
            ]
        );
        // An older one tells nothing new.
        log.on_arrival(at(14), 5_000, 1_000);
        let (first, next) = log.of(6_500).expect("sent");
        assert_eq!((first.data, next.map(|next| next.at)), ([6_000, 8_000], Some(at(20))));
        let part = first.until(7_000, 1_000);
        assert_eq!((part.bytes, part.flight_pkts), (1_500, 9));
        assert_eq!(log.take_below(7_000).count(), 3);
        assert_eq!(log.of(6_500).map(|(first, _)| first.path_bytes), Some(9_000));
    }

    #[test]
    fn of_many_entries_two_become_one() {
        let mut log = SentLog::default();
        (0..=MOST as u64).for_each(|k| log.push(sent([k, k + 1], k as i64)));
        assert_eq!(log.entries.len(), MOST / 2 + 1);
        let (first, _) = log.of(0).expect("sent");
        assert_eq!((first.data, first.at, first.path_bytes), ([0, 2], at(1), 0));
    }
}

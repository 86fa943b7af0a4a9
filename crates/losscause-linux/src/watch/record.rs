//! The bytes of `bpf/watch.h`, as the kernel hands them out.

use losscause::{Span, Time};

use crate::kernel::record::{Ends, Fields};

/// A record: which connection, when, and what was seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    /// The kernel's cookie of the socket.
    pub(super) socket: u64,
    /// Since the machine started (CLOCK_MONOTONIC).
    pub(super) at: Time,
    pub(super) what: What,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// A connection for the first time.
    Open { cgroup: u64, ends: Ends, control: String },
    /// What acknowledgements left.
    Samples(State, Vec<Sample>),
    /// Data that are sent again, by their sequence numbers, and the packets in flight without them.
    Again { seq: u32, end_seq: u32, flight: u32 },
    /// The end of a connection.
    Close,
}

/// A connection's state at the newest sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Bytes of data in a full packet.
    pub(super) mss: u32,
    /// Bytes of the TCP header, options included.
    pub(super) header: u32,
    /// Packets with data, sent again included, in all.
    pub(super) sent: u32,
    /// The kernel's smoothed round-trip time.
    pub(super) srtt: Span,
    /// The congestion window, packets.
    pub(super) cwnd: u32,
}

/// What an acknowledgement left. Sequence numbers and counts wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// When it came.
    pub(super) at: Time,
    /// When the first one after the last sample came: this one, or one that was no sample.
    pub(super) since: Time,
    /// The round trip of the packet that it acknowledged last; none if it shows no new one.
    pub(super) rtt: Option<Span>,
    /// When the newest packet that has arrived was sent, by time of sending.
    pub(super) sent_at: Time,
    /// The byte behind that packet.
    pub(super) sent_end: u32,
    /// Behind the newest byte sent, when the next acknowledgement came.
    pub(super) next: u32,
    /// The same, when this one came, if `since` is the time of another one.
    pub(super) next_before: u32,
    /// Everything before is acknowledged.
    pub(super) una: u32,
    /// Packets that have arrived, in all.
    pub(super) delivered: u32,
    /// Packets that this acknowledgement alone delivered, not those before it that are no samples.
    pub(super) newly: u32,
    /// Packets that are sent, not acknowledged and not known to be lost.
    pub(super) flight: u32,
    /// Packets acknowledged beyond `una`.
    pub(super) sacked: u32,
    /// Packets that the receiver reports to have got twice, in all.
    pub(super) dsacks: u32,
}

/// Sizes of the structs, bytes.
const SEEN: usize = 24;
const OPEN: usize = 72;
const STATE: usize = 24;
const SAMPLE: usize = 52;
const AGAIN: usize = 16;

impl Seen {
    /// Reads a record; none if it is not one of this version.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (head, body) = bytes.split_at_checked(SEEN)?;
        let mut head = Fields::of(head);
        let kind = head.u32();
        let count = head.u32() as usize;
        let socket = head.u64();
        let ns = head.u64();
        let what = match kind {
            1 if body.len() >= OPEN => open(body),
            2 if body.len() == STATE + count * SAMPLE => {
                let (state, samples) = body.split_at(STATE);
                let samples = samples.chunks_exact(SAMPLE).map(|one| sample(one, ns / 1_000));
                What::Samples(read_state(state), samples.collect())
            }
            3 if body.len() >= AGAIN => {
                let mut fields = Fields::of(body);
                What::Again { seq: fields.u32(), end_seq: fields.u32(), flight: fields.u32() }
            }
            4 => What::Close,
            _ => return None,
        };
        Some(Self { socket, at: Time::from_nanos(ns as i64), what })
    }
}

fn open(body: &[u8]) -> What {
    let mut fields = Fields::of(body);
    let cgroup = fields.u64();
    let ends = fields.ends();
    let name: [u8; 16] = fields.take();
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    What::Open { cgroup, ends, control: String::from_utf8_lossy(name).into_owned() }
}

fn read_state(body: &[u8]) -> State {
    let mut fields = Fields::of(body);
    State {
        mss: fields.u32(),
        header: fields.u32(),
        sent: fields.u32(),
        srtt: Span::from_micros(fields.u32().into()),
        cwnd: fields.u32(),
    }
}

/// A sample; `newest_us` is the time of the record's newest one.
fn sample(bytes: &[u8], newest_us: u64) -> Sample {
    let mut fields = Fields::of(bytes);
    let at_us = before(newest_us, fields.u32());
    let since_us = before(at_us, fields.u32());
    let rtt_us = fields.u32();
    let sent_us = before(at_us, fields.u32());
    Sample {
        at: Time::ZERO + Span::from_micros(at_us as i64),
        since: Time::ZERO + Span::from_micros(since_us as i64),
        rtt: (rtt_us > 0).then(|| Span::from_micros(rtt_us.into())),
        sent_at: Time::ZERO + Span::from_micros(sent_us as i64),
        sent_end: fields.u32(),
        next: fields.u32(),
        next_before: fields.u32(),
        una: fields.u32(),
        delivered: fields.u32(),
        newly: fields.u32(),
        flight: fields.u32(),
        sacked: fields.u32(),
        dsacks: fields.u32(),
    }
}

/// The time with these low bits that is not after `reference_us`, microseconds.
fn before(reference_us: u64, low: u32) -> u64 {
    reference_us.saturating_sub(u64::from((reference_us as u32).wrapping_sub(low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(kind: u32, count: u32, ns: u64) -> Vec<u8> {
        let words = [kind.to_ne_bytes(), count.to_ne_bytes()].concat();
        [words, 7_u64.to_ne_bytes().to_vec(), ns.to_ne_bytes().to_vec()].concat()
    }

    #[test]
    fn low_bits_of_a_time_are_those_before_the_newest() {
        let wrap = 1_u64 << 32;
        assert_eq!(before(wrap + 10, 10), wrap + 10);
        assert_eq!(before(wrap + 10, 9), wrap + 9);
        assert_eq!(before(wrap + 10, u32::MAX), wrap - 1);
    }

    #[test]
    fn samples_are_read_in_their_order() {
        let ns = (1_u64 << 32) * 1_000 + 5_000;
        let mut bytes = head(2, 2, ns);
        let state = [1_448_u32, 32, 9, 40_000, 10, 0];
        let samples: [[u32; 13]; 2] = [
            [u32::MAX, u32::MAX - 7, 41_000, u32::MAX - 41_000, 100, 900, 800, 50, 3, 2, 10, 0, 0],
            [5, 5, 0, u32::MAX - 41_000, 100, 900, 0, 60, 4, 1, 9, 1, 2],
        ];
        for word in state.iter().chain(samples.iter().flatten()) {
            bytes.extend(word.to_ne_bytes());
        }
        let Some(Seen { socket: 7, what: What::Samples(state, samples), .. }) = Seen::read(&bytes)
        else {
            panic!("samples")
        };
        assert_eq!((state.mss, state.sent, state.cwnd), (1_448, 9, 10));
        assert_eq!(state.srtt, Span::from_millis(40));
        assert_eq!(samples[1].at - samples[0].at, Span::from_micros(6));
        assert_eq!(samples[0].at - samples[0].since, Span::from_micros(7));
        assert_eq!(samples[1].since, samples[1].at);
        assert_eq!((samples[0].next, samples[0].next_before), (900, 800));
        assert_eq!(samples[0].at - samples[0].sent_at, Span::from_micros(41_000));
        assert_eq!((samples[0].rtt, samples[1].rtt), (Some(Span::from_millis(41)), None));
        assert_eq!((samples[0].delivered, samples[0].newly, samples[0].flight), (3, 2, 10));
        assert_eq!((samples[1].una, samples[1].sacked, samples[1].dsacks), (60, 1, 2));
        bytes.pop();
        assert_eq!(Seen::read(&bytes), None, "cut");
        assert_eq!(Seen::read(&head(9, 0, 1)), None, "of another kind");
    }
}

//! Channels that corrupt packets, one file per error process.
//!
//! A process is a sequence of slots, each good or bad; only losses that depend on the load
//! (`load.rs`) have none. This file maps packets to slots in the same
//! way for all processes (see [`Slots`]). The packets of all flows use up slots, so all flows share
//! one pattern.

use std::iter;

use losscause::{Span, Time};

use crate::rng::Stream;
use crate::topology::{ChannelSpec, Slots};

mod bernoulli;
mod gilbert_elliott;
pub mod jakes;
mod load;
mod trace;

use bernoulli::Bernoulli;
use gilbert_elliott::GilbertElliott;
use load::Load;
use trace::Trace;

/// An error process and the mapping of packets to its slots.
#[derive(Clone, Debug)]
#[repr(C)] // The process can be large, so the mapping precedes it: fields that every packet touches are adjacent.
pub(crate) struct Channel {
    mapping: Mapping,
    process: Process,
}

#[derive(Clone, Debug)]
enum Process {
    Perfect,
    Bernoulli(Bernoulli),
    GilbertElliott(GilbertElliott),
    Trace(Trace),
    Load(Box<Load>),
}

#[derive(Clone, Debug)]
enum Mapping {
    PerPacket(u32),
    PerTime {
        slot: Span,
        /// Slots used so far.
        used: i64,
        /// Whether the last of them was bad.
        last_bad: bool,
    },
}

impl Channel {
    /// `stream` belongs to the channel alone.
    pub(crate) fn new(spec: &ChannelSpec, slots: Slots, mut stream: Stream) -> Self {
        let process = match spec {
            ChannelSpec::Perfect => Process::Perfect,
            &ChannelSpec::Bernoulli { loss } => Process::Bernoulli(Bernoulli::new(loss, stream)),
            &ChannelSpec::GilbertElliott { loss, mean_burst_packets } => {
                Process::GilbertElliott(GilbertElliott::new(loss, mean_burst_packets, stream))
            }
            ChannelSpec::Trace { lost, start } => {
                Process::Trace(Trace::new(lost, *start, &mut stream))
            }
            ChannelSpec::Load { points, window } => {
                Process::Load(Box::new(Load::new(points, *window, stream)))
            }
        };
        let mapping = match slots {
            Slots::PerPacket(slots) => Mapping::PerPacket(slots),
            Slots::PerTime(slot) => Mapping::PerTime { slot, used: 0, last_bad: false },
        };
        Self { process, mapping }
    }

    /// Its slots from the first on, and whether each is bad.
    pub(crate) fn slots(mut self) -> impl Iterator<Item = bool> {
        iter::repeat_with(move || self.process.next_slot())
    }

    /// From the next slot on the channel has the loss of `spec`, of the same kind: none or
    /// independent errors, or bursts. `stream` is the channel's, as for [`Channel::new`]; it is
    /// used if there were no errors before.
    pub(crate) fn adopt(&mut self, spec: &ChannelSpec, stream: impl FnOnce() -> Stream) {
        match (&mut self.process, spec) {
            (Process::Bernoulli(process), ChannelSpec::Perfect) => process.adopt(0.0),
            (Process::Bernoulli(process), &ChannelSpec::Bernoulli { loss }) => process.adopt(loss),
            (
                Process::GilbertElliott(process),
                &ChannelSpec::GilbertElliott { loss, mean_burst_packets },
            ) => {
                process.adopt(loss, mean_burst_packets);
            }
            (process @ Process::Perfect, &ChannelSpec::Bernoulli { loss }) => {
                *process = Process::Bernoulli(Bernoulli::new(loss, stream()));
            }
            _ => {}
        }
    }

    /// Whether a packet that is transmitted from `start` to `end` (exclusive) has a bad slot. Call
    /// once per packet, in order of time.
    #[inline]
    pub(crate) fn corrupts(&mut self, start: Time, end: Time) -> bool {
        if matches!(self.process, Process::Perfect) {
            return false;
        }
        self.meets_bad_slot(start, end)
    }

    fn meets_bad_slot(&mut self, start: Time, end: Time) -> bool {
        if let Process::Load(process) = &mut self.process {
            return process.corrupts(start, end);
        }
        match &mut self.mapping {
            Mapping::PerPacket(1) => self.process.next_slot(),
            // No early return, because all its slots are used up.
            Mapping::PerPacket(slots) => {
                (0..*slots).fold(false, |bad, _| self.process.next_slot() | bad)
            }
            Mapping::PerTime { slot, used, last_bad } => {
                let first = start.as_nanos() / slot.as_nanos();
                let end = (end.as_nanos() - 1).max(start.as_nanos()) / slot.as_nanos() + 1;
                self.process.skip((first - *used).max(0) as u64);
                // The previous packet may have ended in the slot in which this one starts.
                let mut bad = first < *used && *last_bad;
                for _ in first.max(*used)..end {
                    *last_bad = self.process.next_slot();
                    bad |= *last_bad;
                }
                *used = end.max(*used);
                bad
            }
        }
    }
}

impl Process {
    #[inline]
    fn next_slot(&mut self) -> bool {
        match self {
            // Losses that depend on the load have no slots.
            Process::Perfect | Process::Load(_) => false,
            Process::Bernoulli(process) => process.next_slot(),
            Process::GilbertElliott(process) => process.next_slot(),
            Process::Trace(process) => process.next_slot(),
        }
    }

    fn skip(&mut self, slots: u64) {
        match self {
            Process::Perfect | Process::Load(_) => {}
            Process::Trace(process) => process.skip(slots),
            Process::Bernoulli(_) | Process::GilbertElliott(_) => {
                for _ in 0..slots {
                    self.next_slot();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::TraceStart;

    fn channel(lost: &[bool], slots: Slots) -> Channel {
        let spec = ChannelSpec::Trace { lost: lost.into(), start: TraceStart::Slot(0) };
        Channel::new(&spec, slots, Stream::new(1, "test"))
    }

    fn at(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn a_packet_of_two_slots_is_corrupted_by_either() {
        let mut air =
            channel(&[false, false, true, false, false, true, true, true], Slots::PerPacket(2));
        assert_eq!([(); 4].map(|()| air.corrupts(at(0), at(1))), [false, true, true, true]);
    }

    #[test]
    fn a_packet_meets_the_slots_of_time_that_it_overlaps() {
        // Bad: 10 to 20 ns, and 50 to 60 ns.
        let mut air = channel(
            &[false, true, false, false, false, true, false, false],
            Slots::PerTime(Span::from_nanos(10)),
        );
        let packets =
            [(0, 10), (10, 13), (19, 20), (20, 25), (25, 50), (50, 51), (59, 75), (75, 75)];
        let expected = [false, true, true, false, false, true, true, false];
        assert_eq!(packets.map(|(start, end)| air.corrupts(at(start), at(end))), expected);
    }

    #[test]
    fn a_channel_in_time_moves_on_while_nobody_sends() {
        let mut air = channel(&[false, false, false, true], Slots::PerTime(Span::from_nanos(10)));
        // Slot 7 is the trace's last, the second time around.
        assert!(!air.corrupts(at(0), at(5)));
        assert!(air.corrupts(at(70), at(71)));
        assert!(!air.corrupts(at(80), at(110)));
    }
}

//! A stream whose packets say no time: its receiver's capture with the departures that the sender's
//! has.

use losscause::Time;

use super::flows::Name;
use super::matching::Trip;
use crate::analysis::{self, Flow, Options};
use crate::flow::{Arrival, Proven, Rules};
use crate::judge::Departure;
use crate::packet::Numbered;

/// The flow as its receiver would judge it with the trips of the packets that both captures have,
/// of which the receiver's calls it `alone` and began at `begun`. None of flows that say the times
/// themselves.
pub(super) fn timed(
    options: &Options,
    name: &Name,
    trips: &[Trip],
    alone: &[&Flow],
    begun: Time,
) -> Option<Flow> {
    let alone = *alone.first()?;
    let numbered = |trip: &Trip| {
        Numbered::plain(name.protocol, name.stream.unwrap_or(0), name.protocol.on_wire(trip.number))
    };
    // The algorithms' observations were handed on when the captures were read.
    let options = Options { observer: None, ..options.clone() };
    let rules = Rules::of(&options, "");
    let mut proven = Proven::new(alone.id, &numbered(trips.first()?), &rules, false);
    for trip in trips {
        proven.on_packet(Arrival {
            at: trip.arrived,
            numbered: numbered(trip),
            departure: Departure::At(trip.sent),
            bytes: 0,
            is_marked: false,
            frame: None,
        });
    }
    let result = proven.finish([alone.src.clone(), alone.dst.clone()], &rules);
    let flow = analysis::described(&options, &rules, begun, result)?;
    let Flow { duplicates, marked, pauses, src_name, dst_name, .. } = alone.clone();
    Some(Flow { duplicates, marked, pauses, src_name, dst_name, ..flow })
}

//! Which losses of a transfer can show in a capture.
//!
//! At the sender a loss shows by its retransmission. At the receiver a first transmission shows as
//! lost if a packet that was sent later, with a higher sequence number, arrives before the
//! retransmission.

use losscause::Time;

use super::link_log::Sent;
use crate::accuracy::truth::{Loss, Losses, TAIL};

/// The losses, with their times in seconds since `begun`, and the end of the transfer.
pub(super) fn losses(packets: &[Sent], begun: Time, source: &str) -> (Losses, Time) {
    let end = packets.last().map_or(begun, |last| last.at);
    let first = packets.first().map_or(0, |sent| sent.seq);
    let ranges: Vec<(u64, u64)> = packets.iter().map(|sent| range(sent, first)).collect();
    let mut losses = Losses::new();
    for (place, sent) in packets.iter().enumerate() {
        let Some((cause, at)) = sent.lost() else { continue };
        let (shows_at_sender, shows_at_receiver) = showing(place, packets, &ranges, end - TAIL);
        losses.entry(format!("{source}:{}", sent.port)).or_default().push(Loss {
            seq: sent.seq,
            lost_s: (at - begun).as_secs_f64(),
            cause,
            shows_at_sender,
            shows_at_receiver,
        });
    }
    (losses, Time::ZERO + (end - begun))
}

/// The bytes of a packet, counted from the transfer's first. A transfer is shorter than half of the
/// sequence numbers.
fn range(sent: &Sent, first: u32) -> (u64, u64) {
    let start = u64::from(sent.seq.wrapping_sub(first));
    (start, start + u64::from(sent.bytes))
}

/// Whether the lost packet in this place shows at the sender and at the receiver before `until`.
fn showing(place: usize, packets: &[Sent], ranges: &[(u64, u64)], until: Time) -> (bool, bool) {
    let own = ranges[place];
    let later = || packets.iter().zip(ranges).skip(place + 1);
    let carries = |range: &(u64, u64)| range.0 <= own.0 && own.0 < range.1;
    let again = later().find(|(_, range)| carries(range));
    let repaired =
        later().filter(|(_, range)| carries(range)).filter_map(|(sent, _)| sent.arrived()).min();
    let revealed =
        later().filter(|(_, range)| range.0 > own.0).filter_map(|(sent, _)| sent.arrived()).min();
    let is_first = ranges[..place].iter().all(|earlier| earlier.1 <= own.0 || own.1 <= earlier.0);
    let at_receiver = is_first
        && revealed.is_some_and(|at| at < until && repaired.is_none_or(|repaired| at < repaired));
    (again.is_some_and(|(sent, _)| sent.at < until), at_receiver)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::link_log::Fate;
    use losscause::Span;

    fn at_ms(ms: i64) -> Time {
        Time::from_nanos(1_700_000_000_000_000_000) + Span::from_millis(ms)
    }

    /// A packet of 100 bytes that arrives after 20 ms, or is lost in the air.
    fn sent(ms: i64, seq: u32, arrives: bool) -> Sent {
        let fate = if arrives { Fate::Arrives(at_ms(ms + 20)) } else { Fate::Air(at_ms(ms)) };
        Sent { at: at_ms(ms), port: 80, seq, bytes: 100, fate }
    }

    #[test]
    fn a_loss_shows_by_what_came_after_it() {
        // Numbers wrap between the first and the second packet.
        let packets = [
            sent(0, u32::MAX - 99, true),
            sent(1, 0, false),
            sent(2, 100, true),
            sent(45, 0, false),
            sent(46, 200, false),
            sent(90, 0, true),
            sent(300, 200, true),
            sent(9_000, 300, true),
        ];
        let (losses, end) = losses(&packets, at_ms(0), "10.0.0.1");
        assert_eq!(end, Time::ZERO + Span::from_secs(9));
        let losses = &losses["10.0.0.1:80"];
        let shows: Vec<(u32, bool, bool)> = losses
            .iter()
            .map(|loss| (loss.seq, loss.shows_at_sender, loss.shows_at_receiver))
            .collect();
        // The retransmission of 0 is no first transmission. 200 comes again before anything behind
        // it.
        assert_eq!(shows, [(0, true, true), (0, true, false), (200, true, false)]);
        assert_eq!(losses[0].lost_s, 0.001);
    }

    #[test]
    fn what_only_the_tail_repairs_need_not_show() {
        let packets =
            [sent(0, 0, true), sent(1, 100, false), sent(500, 200, true), sent(2_400, 100, true)];
        let (losses, _) = losses(&packets, at_ms(0), "10.0.0.1");
        let loss = &losses["10.0.0.1:80"][0];
        assert_eq!(
            (loss.shows_at_sender, loss.shows_at_receiver),
            (false, false),
            "revealed at 520, the tail begins at 400"
        );
    }
}

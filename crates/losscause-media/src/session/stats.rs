//! Counters of both ends, and the recent shares of both kinds of losses.

use losscause::{Span, Time};

use crate::wire::feedback::Feedback;

/// What a sender did and was told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderStats {
    /// Data packets sent.
    pub sent_pkts: u64,
    /// Bytes of media in them.
    pub sent_media_bytes: u64,
    /// The allowed rate, bits of UDP payload per second.
    pub rate_bps: f64,
    /// The part of it that media can use: headers and tags subtracted.
    pub media_rate_bps: f64,
    /// Whether no loss event was reported yet.
    pub in_slow_start: bool,
    /// The round-trip time; none before the first report.
    pub rtt: Option<Span>,
    /// The loss event rate p of the last report, 0 to 1.
    pub loss_event_rate: f64,
    /// Packets that the receiver has, by its last report.
    pub received_pkts: u64,
    /// Packets lost to congestion, by its last report.
    pub lost_congestion_pkts: u64,
    /// Packets lost to the air, by its last report.
    pub lost_wireless_pkts: u64,
    /// Recent shares of both kinds of losses.
    pub recent: KindShares,
    /// Reports used.
    pub reports: u64,
    /// Reports whose receive rate was above what was sent; it was lowered.
    pub capped_reports: u64,
    /// Reports ignored because they contradict what was sent.
    pub contradicting_reports: u64,
    /// Packets ignored because they were replayed.
    pub replayed_pkts: u64,
    /// Packets ignored because they are of another form or carry no valid tag.
    pub foreign_pkts: u64,
}

/// What a receiver saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Data packets received, each counted once.
    pub received_pkts: u64,
    /// Bytes of media in them.
    pub received_media_bytes: u64,
    /// Packets that came after a later one.
    pub late_pkts: u64,
    /// Packets declared lost to congestion, those included about which the algorithm could not
    /// tell.
    pub lost_congestion_pkts: u64,
    /// Packets declared lost to the air.
    pub lost_wireless_pkts: u64,
    /// Packets that the sender sent; known once it said that it is done.
    pub sent_pkts: Option<u64>,
    /// The sender's estimate of the round-trip time; none before the first report.
    pub rtt: Option<Span>,
    /// Reports sent.
    pub reports: u64,
    /// Packets ignored because they were replayed.
    pub replayed_pkts: u64,
    /// Packets ignored because they are of another form, come from elsewhere, or carry no valid
    /// tag.
    pub foreign_pkts: u64,
}

/// Shares of the packets of the last one to two seconds, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KindShares {
    /// Lost to congestion.
    pub congestion: f64,
    /// Lost to the air.
    pub wireless: f64,
}

/// Makes the shares from the totals of reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    older: Totals,
    newer: Totals,
    newer_at: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    received: u64,
    congestion: u64,
    wireless: u64,
}

const STEP: Span = Span::from_secs(1);

impl Recent {
    /// A report came; the totals do not fall.
    pub(crate) fn on_report(&mut self, now: Time, report: &Feedback) -> KindShares {
        let totals = Totals {
            received: report.received,
            congestion: report.lost_congestion,
            wireless: report.lost_wireless,
        };
        let newer_at = *self.newer_at.get_or_insert(now);
        if now - newer_at >= STEP {
            self.older = self.newer;
            self.newer = totals;
            self.newer_at = Some(now);
        }
        let received = totals.received - self.older.received;
        let congestion = totals.congestion - self.older.congestion;
        let wireless = totals.wireless - self.older.wireless;
        let all = (received + congestion + wireless).max(1) as f64;
        KindShares { congestion: congestion as f64 / all, wireless: wireless as f64 / all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_last_one_to_two_seconds() {
        let mut recent = Recent::default();
        let mut report = |ms: i64, received, lost_congestion, lost_wireless| {
            let feedback =
                Feedback { received, lost_congestion, lost_wireless, ..Feedback::default() };
            recent.on_report(Time::from_nanos(ms * 1_000_000), &feedback)
        };
        assert_eq!(report(0, 8, 1, 1), KindShares { congestion: 0.1, wireless: 0.1 });
        // After one second the totals become the newer mark, after two seconds the older one.
        assert_eq!(report(1000, 80, 10, 10), KindShares { congestion: 0.1, wireless: 0.1 });
        assert_eq!(report(2000, 170, 10, 20), KindShares { congestion: 0.0, wireless: 0.1 });
        assert_eq!(report(3000, 270, 10, 20), KindShares::default());
    }
}

//! What a stream is doing: a line on the terminal, or JSON lines for scripts.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use losscause::Span;
use losscause_media::{ReceiverStats, SenderStats};
use serde::Serialize;

use crate::notice;
use crate::output::{self, Format, plural};

/// Time between two statistics.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// Shows statistics once per second.
pub(super) struct Show {
    format: Format,
    begun: Instant,
    bar: Option<ProgressBar>,
}

/// A line of JSON.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Line {
    Sending(SendingLine),
    Receiving(ReceivingLine),
    Started { time_s: f64, peer: String },
    Gap { time_s: f64, first: u64, packets: u64, wireless: u64, reason: String },
    End { time_s: f64, end: String },
}

#[derive(Serialize)]
pub(super) struct SendingLine {
    time_s: f64,
    rate_bps: f64,
    media_rate_bps: f64,
    rtt_ms: Option<f64>,
    loss_event_rate: f64,
    recent_congestion: f64,
    recent_wireless: f64,
    sent_packets: u64,
    sent_bytes: u64,
    received_packets: u64,
    lost_congestion_packets: u64,
    lost_wireless_packets: u64,
}

#[derive(Serialize)]
pub(super) struct ReceivingLine {
    time_s: f64,
    rtt_ms: Option<f64>,
    received_packets: u64,
    received_bytes: u64,
    late_packets: u64,
    lost_congestion_packets: u64,
    lost_wireless_packets: u64,
    /// Known at the end.
    sent_packets: Option<u64>,
}

impl Show {
    pub(super) fn new(format: Format) -> Self {
        let live = format == Format::Table && io::stderr().is_terminal() && !notice::is_quiet();
        Self { format, begun: Instant::now(), bar: live.then(ProgressBar::new_spinner) }
    }

    pub(super) fn time_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    pub(super) fn sending(&self, stats: &SenderStats) -> io::Result<()> {
        self.show(|| sender_line(stats), || Line::Sending(self.sending_line(stats)))
    }

    pub(super) fn receiving(&self, stats: &ReceiverStats) -> io::Result<()> {
        self.show(|| receiver_line(stats), || Line::Receiving(self.receiving_line(stats)))
    }

    /// A line of JSON; nothing for people.
    pub(super) fn json(&self, line: impl FnOnce(f64) -> Line) -> io::Result<()> {
        match self.format {
            Format::Json => print(&line(self.time_s())),
            Format::Table => Ok(()),
        }
    }

    /// The last line of a stream.
    pub(super) fn close(self, summary: &str, end: &impl ToString) -> io::Result<()> {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        match self.format {
            Format::Json => print(&Line::End { time_s: self.time_s(), end: end.to_string() }),
            Format::Table => {
                output::line(&format!("{}: {summary} in {:.1} s", end.to_string(), self.time_s()))
            }
        }
    }

    fn show(&self, text: impl FnOnce() -> String, line: impl FnOnce() -> Line) -> io::Result<()> {
        if let Some(bar) = &self.bar {
            bar.set_message(text());
            bar.tick();
        }
        match self.format {
            Format::Json => print(&line()),
            Format::Table => Ok(()),
        }
    }

    fn sending_line(&self, stats: &SenderStats) -> SendingLine {
        SendingLine {
            time_s: self.time_s(),
            rate_bps: stats.rate_bps,
            media_rate_bps: stats.media_rate_bps,
            rtt_ms: stats.rtt.map(Span::as_millis_f64),
            loss_event_rate: stats.loss_event_rate,
            recent_congestion: stats.recent.congestion,
            recent_wireless: stats.recent.wireless,
            sent_packets: stats.sent_pkts,
            sent_bytes: stats.sent_media_bytes,
            received_packets: stats.received_pkts,
            lost_congestion_packets: stats.lost_congestion_pkts,
            lost_wireless_packets: stats.lost_wireless_pkts,
        }
    }

    fn receiving_line(&self, stats: &ReceiverStats) -> ReceivingLine {
        ReceivingLine {
            time_s: self.time_s(),
            rtt_ms: stats.rtt.map(Span::as_millis_f64),
            received_packets: stats.received_pkts,
            received_bytes: stats.received_media_bytes,
            late_packets: stats.late_pkts,
            lost_congestion_packets: stats.lost_congestion_pkts,
            lost_wireless_packets: stats.lost_wireless_pkts,
            sent_packets: stats.sent_pkts,
        }
    }
}

fn print(line: &Line) -> io::Result<()> {
    output::json_line(line)
}

fn rtt(rtt: Option<Span>) -> String {
    rtt.map_or_else(|| "RTT unknown".to_owned(), |rtt| format!("RTT {:.1} ms", rtt.as_millis_f64()))
}

fn sender_line(stats: &SenderStats) -> String {
    format!(
        "{:.3} Mb/s, {}, lost lately: {:.1} % congestion, {:.1} % wireless; {} sent",
        stats.rate_bps / 1e6,
        rtt(stats.rtt),
        100.0 * stats.recent.congestion,
        100.0 * stats.recent.wireless,
        plural(stats.sent_pkts, "packet")
    )
}

fn receiver_line(stats: &ReceiverStats) -> String {
    format!(
        "{} received, {}, lost: {} to congestion, {} wireless",
        plural(stats.received_pkts, "packet"),
        rtt(stats.rtt),
        stats.lost_congestion_pkts,
        stats.lost_wireless_pkts
    )
}

/// What a sender did, for people.
pub(super) fn sent(stats: &SenderStats) -> String {
    format!(
        "sent {} ({} bytes), of which {} arrived, {} were lost to congestion and {} to the air",
        plural(stats.sent_pkts, "packet"),
        stats.sent_media_bytes,
        stats.received_pkts,
        stats.lost_congestion_pkts,
        stats.lost_wireless_pkts
    )
}

/// What a receiver got, for people.
pub(super) fn received(stats: &ReceiverStats) -> String {
    format!(
        "received {} ({} bytes); {} were lost to congestion and {} to the air",
        plural(stats.received_pkts, "packet"),
        stats.received_media_bytes,
        stats.lost_congestion_pkts,
        stats.lost_wireless_pkts
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_by_their_cause() {
        let show = Show::new(Format::Json);
        let sender = SenderStats {
            lost_congestion_pkts: 3,
            lost_wireless_pkts: 5,
            ..SenderStats::default()
        };
        let line = show.sending_line(&sender);
        assert_eq!((line.lost_congestion_packets, line.lost_wireless_packets), (3, 5));
        let receiver = ReceiverStats {
            lost_congestion_pkts: 3,
            lost_wireless_pkts: 5,
            ..ReceiverStats::default()
        };
        let line = show.receiving_line(&receiver);
        assert_eq!((line.lost_congestion_packets, line.lost_wireless_packets), (3, 5));
    }

    #[test]
    fn a_round_trip_is_told_in_milliseconds() {
        let show = Show::new(Format::Json);
        let rtt = Some(Span::from_micros(40_500));
        assert_eq!(
            show.sending_line(&SenderStats { rtt, ..SenderStats::default() }).rtt_ms,
            Some(40.5)
        );
        assert_eq!(
            show.receiving_line(&ReceiverStats { rtt, ..ReceiverStats::default() }).rtt_ms,
            Some(40.5)
        );
        assert!(
            sender_line(&SenderStats { rtt, ..SenderStats::default() }).contains("RTT 40.5 ms")
        );
    }
}

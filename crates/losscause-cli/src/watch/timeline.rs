//! One connection over time: a line per interval.

use std::io;
use std::net::SocketAddr;

use losscause_linux::watch::{Report, Snapshot};

use crate::failure::Failure;
use crate::output::{self, Format};

/// Which connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// By its peer.
    Peer(SocketAddr),
    /// By the kernel's cookie of its socket.
    Socket(u64),
}

impl Chosen {
    /// ADDRESS:PORT of the peer, or the number of the socket.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let peer = text.parse().ok().map(Self::Peer);
        let socket = || text.parse().ok().map(Self::Socket);
        peer.or_else(socket).ok_or_else(|| {
            Failure::Usage(format!(
                "--connection {text}: expected the peer as ADDRESS:PORT, or the connection's number in the JSON"
            ))
        })
    }

    fn is(self, report: &Report) -> bool {
        match self {
            Self::Peer(peer) => report.remote == peer,
            Self::Socket(socket) => report.socket == socket,
        }
    }

    /// A line for each connection that it is.
    pub(super) fn print(self, snapshot: &Snapshot, format: Format) -> io::Result<()> {
        for report in snapshot.connections.iter().filter(|report| self.is(report)) {
            match format {
                Format::Json => {
                    output::json_line(report)?;
                }
                Format::Table => output::line(&line(report))?,
            }
        }
        Ok(())
    }
}

/// The names above the lines.
pub(super) fn header() -> String {
    row(["s", "Mb/s", "RTT ms", "queue ms", "flight", "lost", "why"])
}

fn line(report: &Report) -> String {
    let millis = |ms: Option<f64>| ms.map_or_else(String::new, |ms| format!("{ms:.1}"));
    let why = report.diagnosis.as_ref().map(|told| told.diagnosis.to_string()).unwrap_or_default();
    row([
        &format!("{:.1}", report.watched_s),
        &format!("{:.2}", report.goodput_bps / 1e6),
        &millis(report.rtt_ms),
        &millis(report.queueing_ms),
        &report.flight_pkts.to_string(),
        &report.lost_now_pkts.to_string(),
        &why,
    ])
}

/// Columns of fixed widths, because later lines are not known yet.
fn row([time, goodput, rtt, queueing, flight, lost, why]: [&str; 7]) -> String {
    format!("{time:>8}  {goodput:>9}  {rtt:>8}  {queueing:>8}  {flight:>6}  {lost:>5}  {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_chosen_by_its_peer_or_its_number() {
        assert_eq!(Chosen::parse("77").unwrap(), Chosen::Socket(77));
        let peer = Chosen::parse("[2001:db8::1]:443").unwrap();
        assert_eq!(peer, Chosen::Peer("[2001:db8::1]:443".parse().unwrap()));
        let refused = Chosen::parse("example.org").unwrap_err().to_string();
        assert!(refused.starts_with("--connection example.org: expected the peer"), "{refused}");
    }
}

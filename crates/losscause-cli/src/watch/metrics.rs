//! Counters for Prometheus, in its text format, version 0.0.4.
//!
//! Series are bounded: a destination is a prefix, there are at most 257 of them, and seven causes.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use losscause_linux::watch::Snapshot;

use crate::failure::Failure;
use crate::served::{self, Timed};

/// Serves the newest counters.
pub(super) struct Metrics {
    newest: Arc<Mutex<String>>,
}

/// From the beginning of a connection to the end of its answer, however the reader divides it.
const PATIENCE: Duration = Duration::from_secs(1);
/// A request is not longer.
const MOST_BYTES: usize = 8_192;

impl Metrics {
    /// Serves at `address` from now on, until the program ends. One that is not of this computer
    /// alone is refused unless `anywhere`.
    pub(super) fn serve(address: SocketAddr, anywhere: bool) -> Result<Self, Failure> {
        if !address.ip().is_loopback() && !anywhere {
            return Err(Failure::Usage(format!(
                "--metrics {address}: is no address of this computer alone, expected one as 127.0.0.1:9100, or --anywhere"
            )));
        }
        let listener = TcpListener::bind(address).map_err(|reason| {
            Failure::Usage(format!("--metrics {address}: cannot be listened at ({reason})"))
        })?;
        let newest = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&newest);
        let serve = move || {
            served::for_ever(listener, |stream| {
                let text = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                answer(Timed { stream, deadline: Instant::now() + PATIENCE }, &text)
            });
        };
        let serving = thread::Builder::new().name("metrics".to_owned()).spawn(serve);
        serving.map_err(|reason| {
            Failure::Usage(format!("--metrics {address}: no thread can serve it ({reason})"))
        })?;
        Ok(Self { newest })
    }

    /// Serves this from now on.
    pub(super) fn show(&self, snapshot: &Snapshot) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = text(snapshot);
    }
}

/// Reads a request and answers it.
fn answer(mut stream: Timed<'_>, text: &str) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut bytes = [0; 1_024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < MOST_BYTES {
        match stream.read(&mut bytes)? {
            0 => break,
            read => request.extend(&bytes[..read]),
        }
    }
    let (status, body) = match request.starts_with(b"GET /metrics ") {
        true => ("200 OK", text),
        false => ("404 Not Found", "GET /metrics has the counters\n"),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// A series: its name, its type, what it is.
type Family = (&'static str, &'static str, &'static str);

const CONNECTIONS: Family =
    ("losscause_connections", "gauge", "Open connections that send, by destination.");
const LOST: Family = (
    "losscause_lost_packets_total",
    "counter",
    "Lost packets, by destination and by the cause of the connection's losses.",
);
const SENT: Family = (
    "losscause_sent_packets_total",
    "counter",
    "Packets with data that were sent, again included, by destination.",
);
const ACKED: Family = (
    "losscause_acked_bytes_total",
    "counter",
    "Bytes of data that were acknowledged, by destination.",
);
const RTT: Family = (
    "losscause_least_round_trip_seconds",
    "gauge",
    "The smallest of the newest round trips of the connections, by destination.",
);
const UNSEEN: Family = (
    "losscause_unseen_records_total",
    "counter",
    "Records that were dropped because the watch was too slow.",
);

fn text(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    let prefixes = &snapshot.prefixes;
    head(&mut text, CONNECTIONS);
    for one in prefixes {
        sample(
            &mut text,
            CONNECTIONS,
            &format!("prefix=\"{}\"", one.prefix),
            one.connections as f64,
        );
    }
    head(&mut text, LOST);
    for one in prefixes {
        for (cause, lost) in &one.lost_pkts {
            let labels = format!("prefix=\"{}\",cause=\"{cause}\"", one.prefix);
            sample(&mut text, LOST, &labels, *lost as f64);
        }
    }
    head(&mut text, SENT);
    for one in prefixes {
        sample(&mut text, SENT, &format!("prefix=\"{}\"", one.prefix), one.sent_pkts as f64);
    }
    head(&mut text, ACKED);
    for one in prefixes {
        sample(&mut text, ACKED, &format!("prefix=\"{}\"", one.prefix), one.acked_bytes as f64);
    }
    head(&mut text, RTT);
    for one in prefixes {
        if let Some(rtt_ms) = one.rtt_ms {
            sample(&mut text, RTT, &format!("prefix=\"{}\"", one.prefix), rtt_ms / 1e3);
        }
    }
    head(&mut text, UNSEEN);
    _ = writeln!(text, "{} {}", UNSEEN.0, snapshot.unseen_records);
    text
}

fn head(text: &mut String, (name, kind, help): Family) {
    _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn sample(text: &mut String, (name, ..): Family, labels: &str, value: f64) {
    _ = writeln!(text, "{name}{{{labels}}} {value}");
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::super::sample;
    use super::*;

    #[test]
    fn the_text_has_a_series_per_destination_and_cause() {
        let text = text(&sample::snapshot());
        let expected = include_str!("metrics.txt");
        assert_eq!(text, expected, "\n{text}");
    }

    #[test]
    fn another_computer_s_address_and_a_port_in_use_are_refused() {
        let refused = |address: SocketAddr| match Metrics::serve(address, false) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{address} is served"),
        };
        let sentence = refused("0.0.0.0:0".parse().unwrap());
        assert_eq!(
            sentence,
            "--metrics 0.0.0.0:0: is no address of this computer alone, expected one as 127.0.0.1:9100, or --anywhere"
        );
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let sentence = refused(address);
        assert!(sentence.starts_with(&format!("--metrics {address}: cannot be listened at (")));
    }

    #[test]
    fn a_reader_whose_time_is_over_gets_no_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut reader = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // A byte now and then does not prolong it.
        reader.write_all(b"G").unwrap();
        let (stream, _) = listener.accept().unwrap();
        let over = answer(Timed { stream: &stream, deadline: Instant::now() }, "").unwrap_err();
        assert_eq!(over.kind(), std::io::ErrorKind::TimedOut);
    }

    #[test]
    fn the_newest_counters_are_served_and_nothing_else() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let metrics = Metrics::serve(free, false).unwrap();
        metrics.show(&sample::snapshot());
        let answer = |request: &str| {
            let mut stream = TcpStream::connect(free).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let served = answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(served.starts_with("HTTP/1.1 200 OK\r\n"), "{served}");
        assert!(served.ends_with(include_str!("metrics.txt")), "{served}");
        let other = answer("GET / HTTP/1.1\r\n\r\n");
        assert!(other.starts_with("HTTP/1.1 404 Not Found\r\n"), "{other}");
    }
}

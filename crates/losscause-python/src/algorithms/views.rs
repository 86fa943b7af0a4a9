//! What a user's algorithm observes, as Python sees it. Times and spans are whole nanoseconds.

use losscause::Span;
use pyo3::prelude::*;

/// A packet that arrived in order, with what it tells about the path.
#[pyclass(frozen, get_all, module = "losscause")]
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// Its sequence number, one per packet sent.
    seq: u64,
    /// When it arrived, by the receiver's clock, nanoseconds.
    at_ns: i64,
    /// Its relative trip time, nanoseconds, from a zero that is arbitrary; None if the packet does not say when it was
    /// sent.
    rott_ns: Option<i64>,
    /// Since the arrival before it, nanoseconds; None for the first packet of a stream.
    since_last_ns: Option<i64>,
    /// Packets missing between that arrival and this one.
    missing: u32,
    /// The relative trip time of the packet before it, nanoseconds, if known.
    rott_before_ns: Option<i64>,
}

#[pymethods]
impl Arrival {
    #[new]
    #[pyo3(signature = (seq, at_ns, *, rott_ns=None, since_last_ns=None, missing=0, rott_before_ns=None))]
    fn new(
        seq: u64,
        at_ns: i64,
        rott_ns: Option<i64>,
        since_last_ns: Option<i64>,
        missing: u32,
        rott_before_ns: Option<i64>,
    ) -> Self {
        Self { seq, at_ns, rott_ns, since_last_ns, missing, rott_before_ns }
    }

    fn __repr__(&self) -> String {
        let known = |span: Option<i64>| span.map_or_else(|| "None".to_owned(), |span| span.to_string());
        format!(
            "Arrival({}, {}, rott_ns={}, since_last_ns={}, missing={}, rott_before_ns={})",
            self.seq,
            self.at_ns,
            known(self.rott_ns),
            known(self.since_last_ns),
            self.missing,
            known(self.rott_before_ns)
        )
    }
}

impl From<&losscause::Arrival> for Arrival {
    fn from(arrival: &losscause::Arrival) -> Self {
        let last = arrival.since_last;
        Self {
            seq: arrival.seq,
            at_ns: arrival.at.as_nanos(),
            rott_ns: arrival.rott.map(Span::as_nanos),
            since_last_ns: last.map(|interval| interval.span.as_nanos()),
            missing: arrival.lost(),
            rott_before_ns: last.and_then(|interval| interval.rott_before).map(Span::as_nanos),
        }
    }
}

/// A lost packet, put to an algorithm at the first arrival after the gap, which it has taken in already.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct Loss {
    /// The lost packet's sequence number.
    seq: u64,
    /// The arrival that revealed the gap.
    revealed_by: Py<Arrival>,
}

#[pymethods]
impl Loss {
    #[new]
    fn new(seq: u64, revealed_by: Py<Arrival>) -> Self {
        Self { seq, revealed_by }
    }

    fn __repr__(&self) -> String {
        format!("Loss({}, {})", self.seq, self.revealed_by.get().__repr__())
    }
}

impl Loss {
    pub(super) fn of(loss: &losscause::Loss, py: Python<'_>) -> PyResult<Self> {
        Ok(Self { seq: loss.seq, revealed_by: Py::new(py, Arrival::from(&loss.revealed_by))? })
    }
}

/// An acknowledgement, as a sender observes it.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct AckSample {
    /// When it arrived, by the sender's clock, nanoseconds.
    at_ns: i64,
    /// Round-trip time of the newest packet that it acknowledges, nanoseconds, if known.
    rtt_ns: Option<i64>,
    /// Packets that it acknowledges for the first time.
    newly_acked_pkts: u64,
    /// By how many packets it advances the newest known arrival.
    spanned_pkts: u32,
    /// How many of the spanned packets are missing.
    newly_missing_pkts: u32,
    /// Packets still unacknowledged after it.
    in_flight_pkts: u64,
    /// The congestion window before it, packets, if the transport has one.
    cwnd_pkts: Option<f64>,
}

impl From<&losscause::AckSample> for AckSample {
    fn from(sample: &losscause::AckSample) -> Self {
        Self {
            at_ns: sample.at.as_nanos(),
            rtt_ns: sample.rtt.map(Span::as_nanos),
            newly_acked_pkts: sample.newly_acked_pkts,
            spanned_pkts: sample.spanned_pkts,
            newly_missing_pkts: sample.newly_missing_pkts,
            in_flight_pkts: sample.in_flight_pkts,
            cwnd_pkts: sample.cwnd_pkts,
        }
    }
}

/// A loss that a sender declares.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct DeclaredLoss {
    /// When it was declared, by the sender's clock, nanoseconds.
    at_ns: i64,
    /// The number of the first lost packet, if the transport numbers its packets.
    first: Option<u64>,
    /// The number of the last lost packet.
    last: Option<u64>,
    /// How many packets were lost, as far as known.
    lost_pkts: u32,
    /// When the newest of them was sent, by the sender's clock, nanoseconds, if known.
    sent_at_ns: Option<i64>,
    /// Packets unacknowledged at that time, lost ones included.
    in_flight_pkts: u64,
    /// The congestion window at that time, packets, if the transport has one.
    cwnd_pkts: Option<f64>,
}

impl From<&losscause::DeclaredLoss> for DeclaredLoss {
    fn from(loss: &losscause::DeclaredLoss) -> Self {
        Self {
            at_ns: loss.at.as_nanos(),
            first: loss.numbers.map(|numbers| numbers.first),
            last: loss.numbers.map(|numbers| numbers.last),
            lost_pkts: loss.lost_pkts,
            sent_at_ns: loss.sent_at.map(losscause::Time::as_nanos),
            in_flight_pkts: loss.in_flight_pkts,
            cwnd_pkts: loss.cwnd_pkts,
        }
    }
}

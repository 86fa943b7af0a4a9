//! An algorithm fed with a user's own packets, one by one or in columns: at a receiver ([`Classifier`]) with packets that
//! arrive, at a sender ([`SenderClassifier`]) with acknowledgements and losses.

use losscause::registry::Info;
use losscause::{Algorithm, AnyAlgorithm, Differentiator, End, Packet, Time, on_judged};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::algorithms::Failures;
use crate::arrow::Table;
use crate::columns::together;
use crate::error::{Failure, about, sentence};
use crate::input::whole;

mod algorithm;
mod losses;
mod packets;
mod sender;

use losses::{Losses, verdict};
use packets::{Columns, Numbers, unsorted};
pub(crate) use sender::SenderClassifier;

/// An algorithm that judges the losses among packets that arrive.
#[pyclass(module = "losscause")]
pub(crate) struct Classifier {
    receiver: Differentiator<AnyAlgorithm>,
    info: &'static Info,
    /// When the last packet arrived, nanoseconds.
    last_ns: u64,
    failures: Failures,
}

/// What an algorithm says of one lost packet.
#[pyclass(frozen, module = "losscause")]
pub(crate) struct Judgement {
    /// The lost packet's sequence number; at a sender the first of them, or None if the loss names none.
    #[pyo3(get)]
    seq: Option<u64>,
    judgement: losscause::Judgement,
}

#[pymethods]
impl Judgement {
    /// "congestion", "wireless" or "undecided".
    #[getter]
    fn verdict(&self) -> &'static str {
        verdict(self.judgement.verdict)
    }

    /// The numbers that were compared, as a sentence.
    #[getter]
    fn reason(&self) -> String {
        self.judgement.reason.to_string()
    }

    fn __repr__(&self) -> String {
        let seq = self.seq.map_or_else(|| "a loss".to_owned(), |seq| seq.to_string());
        format!("<Judgement of {seq}: {}>", self.judgement)
    }
}

#[pymethods]
impl Classifier {
    /// The algorithm by its name, with settings in place of its published ones; or a class of your own.
    #[new]
    #[pyo3(signature = (algorithm, **settings))]
    fn new(algorithm: &Bound<'_, PyAny>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let failures = Failures::default();
        let config = algorithm::config(algorithm, settings, &failures)?;
        let lda = config.build(End::Receiver).map_err(Failure::from)?;
        let info = config.info();
        if lda.needs().other.is_some() {
            return Err(told_the_truth(info));
        }
        Ok(Self { receiver: Differentiator::new(lda), info, last_ns: 0, failures })
    }

    /// The algorithm's published name.
    #[getter]
    fn name(&self) -> &'static str {
        self.info.name
    }

    /// Takes in a packet. Returns a judgement of every packet that is missing before it, mostly none.
    #[pyo3(signature = (seq, at_ns, sent_ns=None))]
    fn on_packet<'py>(
        &mut self,
        py: Python<'py>,
        seq: &Bound<'py, PyAny>,
        at_ns: &Bound<'py, PyAny>,
        sent_ns: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (seq, at) = (whole(seq, "seq")?, whole(at_ns, "at_ns")?);
        let sent = sent_ns.map(|sent| whole(sent, "sent_ns")).transpose()?;
        if sent.is_none() {
            self.check_sent()?;
        }
        if at < self.last_ns {
            let last = self.last_ns;
            return Err(unsorted(&format!("at_ns: is {at}, and the packet before it arrived at {last}"), "at_ns"));
        }
        self.last_ns = at;
        let mut judged = Vec::new();
        let mut keep = on_judged(|loss, judgement| {
            judged.push(Judgement { seq: loss.seq(), judgement: *judgement });
        });
        self.receiver.on_packet(packet(seq, at as i64, sent.map(|sent| sent as i64)), &mut keep);
        self.failures.take(py, self.info.name, "").map_or(Ok(()), Err)?;
        if judged.is_empty() { Ok(PyTuple::empty(py)) } else { PyTuple::new(py, judged) }
    }

    /// Takes in many packets, and returns a table of those that are missing: `seq`, `row` (of the packet that revealed
    /// the gap, counted from 0), `verdict`, and with `reasons` the numbers that were compared.
    ///
    /// The packets are a table with the columns `seq`, `at_ns` or `at_s`, and `sent_ns` or `sent_s`; or these columns.
    #[pyo3(signature = (packets=None, *, seq=None, at_ns=None, at_s=None, sent_ns=None, sent_s=None, reasons=false))]
    #[allow(clippy::too_many_arguments, reason = "named in Python")]
    fn classify<'py>(
        &mut self,
        py: Python<'py>,
        packets: Option<&Bound<'py, PyAny>>,
        seq: Option<&Bound<'py, PyAny>>,
        at_ns: Option<&Bound<'py, PyAny>>,
        at_s: Option<&Bound<'py, PyAny>>,
        sent_ns: Option<&Bound<'py, PyAny>>,
        sent_s: Option<&Bound<'py, PyAny>>,
        reasons: bool,
    ) -> PyResult<Table> {
        let given = [seq, at_ns, at_s, sent_ns, sent_s];
        let columns = match packets {
            Some(_) if given.iter().any(Option::is_some) => {
                return Err(sentence("packets: is a table beside single columns, expected one or the other"));
            }
            Some(table) => Columns::of_table(table)?,
            None => Columns::of_each(given)?,
        };
        let Columns { seq, at, sent } = &columns;
        if sent.is_none() {
            self.check_sent()?;
        }
        let (seq, at) = (Numbers::of(seq)?, Numbers::of(at)?);
        let sent = sent.as_ref().map(Numbers::of).transpose()?;
        for other in [Some(&at), sent.as_ref()].into_iter().flatten() {
            other.check_length(&seq)?;
        }
        let last_ns = self.last_ns;
        let losses = py.detach(|| -> PyResult<Losses> {
            // Everything is checked before the first packet is taken in: an error changes nothing.
            [Some(&seq), sent.as_ref()].into_iter().flatten().try_for_each(Numbers::check)?;
            self.last_ns = at.check_sorted(last_ns)?;
            Ok(self.take(&seq, &at, sent.as_ref(), reasons))
        })?;
        self.failures.take(py, self.info.name, "").map_or(Ok(()), Err)?;
        losses.table()
    }

    fn __repr__(&self) -> String {
        format!("<losscause.Classifier {}>", self.info.name)
    }
}

impl Classifier {
    /// Refuses packets without the time at which they were sent, if the algorithm compares trip times.
    fn check_sent(&self) -> PyResult<()> {
        if !self.receiver.algorithm().needs().delay {
            return Ok(());
        }
        let problem = format!("{} compares trip times, expected sent_ns or sent_s with every packet", self.info.name);
        Err(about(problem, None, Some("sent_ns")))
    }

    fn take(&mut self, seq: &Numbers<'_>, at: &Numbers<'_>, sent: Option<&Numbers<'_>>, reasons: bool) -> Losses {
        let mut losses = Losses::at_receiver(reasons);
        let mut row = 0;
        match sent {
            Some(sent) => together([&seq.parts, &at.parts, &sent.parts], |[seq, at, sent]| {
                for ((&seq, &at), &sent) in seq.iter().zip(at).zip(sent) {
                    let packet = packet(seq as u64, at, Some(sent));
                    let mut keep = on_judged(|loss, judgement| losses.push(loss.seq().unwrap_or(0), row, judgement));
                    self.receiver.on_packet(packet, &mut keep);
                    row += 1;
                }
            }),
            None => together([&seq.parts, &at.parts], |[seq, at]| {
                for (&seq, &at) in seq.iter().zip(at) {
                    let packet = packet(seq as u64, at, None);
                    let mut keep = on_judged(|loss, judgement| losses.push(loss.seq().unwrap_or(0), row, judgement));
                    self.receiver.on_packet(packet, &mut keep);
                    row += 1;
                }
            }),
        }
        losses
    }
}

fn told_the_truth(info: &Info) -> PyErr {
    about(format!("{}: is told the truth, which only simulators know", info.name), None, None)
}

fn packet(seq: u64, at_ns: i64, sent_ns: Option<i64>) -> Packet {
    Packet { seq, at: Time::from_nanos(at_ns), sent: sent_ns.map(Time::from_nanos) }
}

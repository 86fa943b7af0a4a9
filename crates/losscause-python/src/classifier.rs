//! An algorithm at a receiver, fed with a user's own packets: one by one, or whole columns of them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, RecordBatch, StringArray, UInt64Array};
use losscause::registry::{Info, Registry, Value};
use losscause::{AnyLda, Differentiator, Lda, LdaConfig, Packet, Time, Verdict};
use losscause_study::error::unknown;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};

use crate::algorithms::{self, Failures};
use crate::arrow::{self, Table};
use crate::columns::{Column, Unit, together};
use crate::error::{Failure, about, sentence};
use crate::input::{kind, whole};

/// An algorithm that judges the losses among packets that arrive.
#[pyclass(module = "losscause")]
pub(crate) struct Classifier {
    receiver: Differentiator<AnyLda>,
    info: &'static Info,
    /// When the last packet arrived, nanoseconds.
    last_ns: u64,
    failures: Failures,
}

/// What an algorithm says of one lost packet.
#[pyclass(frozen, module = "losscause")]
pub(crate) struct Judgement {
    /// The lost packet's sequence number.
    #[pyo3(get)]
    seq: u64,
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
        format!("<Judgement of {}: {}>", self.seq, self.judgement)
    }
}

#[pymethods]
impl Classifier {
    /// The algorithm by its name, with settings in place of its published ones; or a class of your own.
    #[new]
    #[pyo3(signature = (algorithm, **settings))]
    fn new(algorithm: &Bound<'_, PyAny>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let failures = Failures::default();
        let config = config(algorithm, settings, &failures)?;
        let lda = config.build().map_err(Failure::from)?;
        let info = config.info();
        if lda.needs().truth {
            return Err(about(format!("{}: is told the truth, which only simulators know", info.name), None, None));
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
        self.receiver.on_packet(packet(seq, at as i64, sent.map(|sent| sent as i64)), |seq, judgement| {
            judged.push(Judgement { seq, judgement });
        });
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
        if !self.receiver.lda().needs().sender_timestamp {
            return Ok(());
        }
        let problem = format!("{} compares trip times, expected sent_ns or sent_s with every packet", self.info.name);
        Err(about(problem, None, Some("sent_ns")))
    }

    fn take(&mut self, seq: &Numbers<'_>, at: &Numbers<'_>, sent: Option<&Numbers<'_>>, reasons: bool) -> Losses {
        let mut losses = Losses { reasons: reasons.then(Vec::new), ..Losses::default() };
        let mut row = 0;
        match sent {
            Some(sent) => together([&seq.parts, &at.parts, &sent.parts], |[seq, at, sent]| {
                for ((&seq, &at), &sent) in seq.iter().zip(at).zip(sent) {
                    let packet = packet(seq as u64, at, Some(sent));
                    self.receiver.on_packet(packet, |seq, judgement| losses.push(seq, row, &judgement));
                    row += 1;
                }
            }),
            None => together([&seq.parts, &at.parts], |[seq, at]| {
                for (&seq, &at) in seq.iter().zip(at) {
                    let packet = packet(seq as u64, at, None);
                    self.receiver.on_packet(packet, |seq, judgement| losses.push(seq, row, &judgement));
                    row += 1;
                }
            }),
        }
        losses
    }
}

fn packet(seq: u64, at_ns: i64, sent_ns: Option<i64>) -> Packet {
    Packet { seq, at: Time::from_nanos(at_ns), sent: sent_ns.map(Time::from_nanos) }
}

/// The parameters of an algorithm: the published ones with `settings`.
fn config(
    algorithm: &Bound<'_, PyAny>,
    settings: Option<&Bound<'_, PyDict>>,
    failures: &Failures,
) -> Result<LdaConfig, Failure> {
    let mut registry = Registry::built_in();
    let name = match algorithm.cast::<PyString>() {
        Ok(name) => name.to_str()?.to_owned(),
        Err(_) if algorithm.is_callable() => {
            let name: String = algorithm.getattr("__name__")?.extract()?;
            let own = PyDict::new(algorithm.py());
            own.set_item(&name, algorithm)?;
            registry = algorithms::added(registry, &own, failures)?;
            name
        }
        Err(_) => {
            let problem = format!("algorithm: is {}, expected a name or a class", kind(algorithm));
            return Err(Failure::Python(about(problem, None, Some("algorithm"))));
        }
    };
    let known: Vec<&str> = registry.infos().map(|info| info.name).collect();
    let mut config = registry.find(&name).cloned().ok_or_else(|| {
        let problem = format!("the algorithm {}", unknown(&name, &known));
        Failure::Python(about(problem, None, Some("algorithm")))
    })?;
    for (key, value) in settings.into_iter().flatten() {
        set(&mut config, &key.extract::<String>()?, &value)?;
    }
    Ok(config)
}

fn set(config: &mut LdaConfig, key: &str, given: &Bound<'_, PyAny>) -> Result<(), Failure> {
    let info = config.info();
    if config.get(key).is_none() {
        let known: Vec<&str> = info.settings.iter().map(|setting| setting.key).collect();
        let problem = format!("{}: the setting {}", info.name, unknown(key, &known));
        return Err(Failure::Python(about(problem, None, Some(key))));
    }
    let text;
    let value = if let Ok(flag) = given.cast::<PyBool>() {
        Value::Flag(flag.is_true())
    } else if given.is_instance_of::<PyInt>() || given.is_instance_of::<PyFloat>() {
        Value::Number(given.extract()?)
    } else if let Ok(word) = given.cast::<PyString>() {
        text = word.to_str()?.to_owned();
        Value::Text(&text)
    } else {
        let problem = format!("{key}: is {}, expected a number, a text or a flag", kind(given));
        return Err(Failure::Python(about(problem, None, Some(key))));
    };
    Ok(config.set(key, value)?)
}

/// The packets, column by column.
struct Columns<'py> {
    seq: Column<'py>,
    at: Column<'py>,
    sent: Option<Column<'py>>,
}

/// The columns by their names, times with the unit that the name gives.
const NAMES: [(&str, Unit); 5] = [
    ("seq", Unit::Whole),
    ("at_ns", Unit::Whole),
    ("at_s", Unit::Seconds),
    ("sent_ns", Unit::Whole),
    ("sent_s", Unit::Seconds),
];

impl<'py> Columns<'py> {
    fn of_each(given: [Option<&Bound<'py, PyAny>>; 5]) -> PyResult<Self> {
        let mut columns = NAMES
            .into_iter()
            .zip(given)
            .map(|((name, unit), given)| given.map(|given| Column::of(name, given, unit)).transpose());
        let mut next = || columns.next().unwrap_or(Ok(None));
        Self::chosen([next()?, next()?, next()?, next()?, next()?])
    }

    fn of_table(table: &Bound<'py, PyAny>) -> PyResult<Self> {
        let not_a_table = || {
            let problem = format!("packets: is {}, expected a table that hands out Arrow data", kind(table));
            about(problem, None, Some("packets"))
        };
        if !arrow::is_arrow(table)? {
            return Err(not_a_table());
        }
        let arrays = arrow::arrays(table)?;
        if arrays.iter().any(|array| array.as_struct_opt().is_none()) {
            return Err(not_a_table());
        }
        let column = |(name, unit): (&'static str, Unit)| {
            let parts: Option<Vec<ArrayRef>> =
                arrays.iter().map(|array| array.as_struct().column_by_name(name).cloned()).collect();
            // A table without rows may have no part at all.
            let parts = parts.filter(|parts| !parts.is_empty());
            parts.map(|parts| Column::of_arrays(name, &parts, unit)).transpose()
        };
        let [seq, at_ns, at_s, sent_ns, sent_s] = NAMES.map(column);
        Self::chosen([seq?, at_ns?, at_s?, sent_ns?, sent_s?])
    }

    fn chosen([seq, at_ns, at_s, sent_ns, sent_s]: [Option<Column<'py>>; 5]) -> PyResult<Self> {
        let missing = |name: &str| about(format!("{name}: is missing, expected a column"), None, Some(name));
        let one = |ns: Option<Column<'py>>, s: Option<Column<'py>>| match (ns, s) {
            (Some(ns), Some(s)) => {
                let problem = format!("{}: is there beside {}, expected one of them", s.name, ns.name);
                Err(about(problem, None, Some(s.name)))
            }
            (ns, s) => Ok(ns.or(s)),
        };
        Ok(Self {
            seq: seq.ok_or_else(|| missing("seq"))?,
            at: one(at_ns, at_s)?.ok_or_else(|| missing("at_ns"))?,
            sent: one(sent_ns, sent_s)?,
        })
    }
}

/// The numbers of a column.
struct Numbers<'a> {
    name: &'static str,
    parts: Vec<&'a [i64]>,
}

impl<'a> Numbers<'a> {
    fn of(column: &'a Column<'_>) -> PyResult<Self> {
        Ok(Self { name: column.name, parts: column.parts()? })
    }

    fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    fn check_length(&self, seq: &Self) -> PyResult<()> {
        let (found, expected) = (self.rows(), seq.rows());
        if found == expected {
            return Ok(());
        }
        let problem = format!("{}: has {found} rows, expected {expected} as in seq", self.name);
        Err(about(problem, None, Some(self.name)))
    }

    /// Refuses negative numbers.
    fn check(&self) -> PyResult<()> {
        let mut before = 0;
        for part in &self.parts {
            // All rows together, which is fast; then the first one, for the message.
            if part.iter().fold(0, |bits, number| bits | number) < 0 {
                let row = part.iter().position(|number| *number < 0).unwrap_or(0);
                let problem = format!("{}: row {} is {}, expected 0 to 2^63 - 1", self.name, before + row, part[row]);
                return Err(about(problem, None, Some(self.name)));
            }
            before += part.len();
        }
        Ok(())
    }

    /// Refuses negative numbers, and numbers below the one before, which `last` is for the first. Returns the last.
    fn check_sorted(&self, mut last: u64) -> PyResult<u64> {
        self.check()?;
        for (row, &number) in self.parts.iter().copied().flatten().enumerate() {
            if (number as u64) < last {
                let name = self.name;
                let found = format!("{name}: row {row} is {number} ns, and the packet before it {last} ns");
                return Err(unsorted(&found, name));
            }
            last = number as u64;
        }
        Ok(last)
    }
}

fn unsorted(found: &str, key: &str) -> PyErr {
    about(format!("{found}; expected packets in the order of their arrival"), None, Some(key))
}

/// The losses that were judged, column by column.
#[derive(Default)]
struct Losses {
    seqs: Vec<u64>,
    rows: Vec<u64>,
    verdicts: Vec<i8>,
    reasons: Option<Vec<String>>,
}

/// In the order of their keys in the column.
const VERDICTS: [Verdict; 3] = [Verdict::Congestion, Verdict::Wireless, Verdict::Undecided];

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Congestion => "congestion",
        Verdict::Wireless => "wireless",
        Verdict::Undecided => "undecided",
    }
}

impl Losses {
    fn push(&mut self, seq: u64, row: u64, judgement: &losscause::Judgement) {
        self.seqs.push(seq);
        self.rows.push(row);
        self.verdicts.push(match judgement.verdict {
            Verdict::Congestion => 0,
            Verdict::Wireless => 1,
            Verdict::Undecided => 2,
        });
        if let Some(reasons) = &mut self.reasons {
            reasons.push(judgement.reason.to_string());
        }
    }

    fn table(self) -> PyResult<Table> {
        let words = Arc::new(StringArray::from_iter_values(VERDICTS.map(verdict)));
        let verdicts = DictionaryArray::<Int8Type>::try_new(Int8Array::from(self.verdicts), words);
        let unmade = |error: arrow_schema::ArrowError| sentence(error.to_string());
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("seq", Arc::new(UInt64Array::from(self.seqs))),
            ("row", Arc::new(UInt64Array::from(self.rows))),
            ("verdict", Arc::new(verdicts.map_err(unmade)?)),
        ];
        if let Some(reasons) = self.reasons {
            columns.push(("reason", Arc::new(StringArray::from_iter_values(reasons))));
        }
        Table::of(vec![RecordBatch::try_from_iter(columns).map_err(unmade)?])
    }
}

//! An algorithm fed with a user's own packets, one by one or in columns: at a receiver with packets
//! that arrive, at a sender with acknowledgements and losses.

use losscause::registry::Info;
use losscause::{Algorithm, End};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::algorithms::{self, Failures};
use crate::arrow::Table;
use crate::error::{Failure, about, caught};

mod algorithm;
mod columns;
mod losses;
mod receiver;
mod sender;

use columns::Given;
use losses::Losses;
use receiver::Receiver;
use sender::Sender;

/// An algorithm that judges losses, at one end of a flow, fed with your own packets one by one or in
/// columns. `losscause.algorithms()` lists the names and settings.
///
/// >>> classifier = losscause.Classifier("Spike", alpha=0.4)
/// >>> classifier.on_packet(0, at_ns=30_000_000, sent_ns=0)
/// ()
/// >>> for judgement in classifier.on_packet(2, at_ns=50_000_000, sent_ns=20_000_000):
/// ...     print(judgement.seq, judgement.verdict)
/// 1 wireless
#[pyclass(module = "losscause")]
pub(crate) struct Classifier {
    at: At,
    info: &'static Info,
    failures: Failures,
    /// What it was made of.
    recipe: Recipe,
    /// Whether it has taken in anything.
    is_used: bool,
}

/// What a classifier is made of.
struct Recipe {
    algorithm: Py<PyAny>,
    settings: Option<Py<PyDict>>,
}

/// The end.
enum At {
    Receiver(Box<Receiver>),
    Sender(Box<Sender>),
}

/// What an algorithm says of one lost packet.
#[pyclass(frozen, module = "losscause")]
pub(crate) struct Judgement {
    /// The lost packet's sequence number; at a sender the first of them, or None if the loss names
    /// none.
    #[pyo3(get)]
    seq: Option<u64>,
    judgement: losscause::Judgement,
}

#[pymethods]
impl Judgement {
    /// "congestion", "wireless" or "undecided".
    #[getter]
    fn verdict(&self) -> &'static str {
        algorithms::word(self.judgement.verdict)
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
    /// The algorithm by its name, with settings in place of its published ones; or a class of your
    /// own. `end` is "receiver" or "sender".
    #[new]
    #[pyo3(signature = (algorithm, *, end="receiver", **settings))]
    fn new(
        algorithm: &Bound<'_, PyAny>,
        end: &str,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let end = match end {
            "receiver" => End::Receiver,
            "sender" => End::Sender,
            other => {
                let problem = format!("end: is \"{other}\", expected \"receiver\" or \"sender\"");
                return Err(about(problem, None, Some("end")));
            }
        };
        let recipe = Recipe {
            algorithm: algorithm.clone().unbind(),
            settings: settings.map(PyDictMethods::copy).transpose()?.map(Bound::unbind),
        };
        let failures = Failures::default();
        let config = algorithm::config(algorithm, settings, &failures)?;
        let algorithm = config.build(end).map_err(Failure::from)?;
        let info = config.info();
        if algorithm.needs().other.is_some() {
            let problem = format!("{}: is told the truth, which only simulators know", info.name);
            return Err(about(problem, None, None));
        }
        let at = match end {
            End::Receiver => At::Receiver(Box::new(Receiver::new(algorithm, info.name))),
            End::Sender => At::Sender(Box::new(Sender::new(algorithm, info.name))),
        };
        Ok(Self { at, info, failures, recipe, is_used: false })
    }

    /// The algorithm's published name.
    #[getter]
    fn name(&self) -> &'static str {
        self.info.name
    }

    /// "receiver" or "sender".
    #[getter]
    fn end(&self) -> &'static str {
        match self.at {
            At::Receiver(_) => "receiver",
            At::Sender(_) => "sender",
        }
    }

    /// Takes in a packet, at a receiver. Returns a judgement of every packet that is missing before
    /// it, mostly none.
    #[pyo3(signature = (seq, at_ns, sent_ns=None))]
    fn on_packet<'py>(
        &mut self,
        py: Python<'py>,
        seq: &Bound<'py, PyAny>,
        at_ns: &Bound<'py, PyAny>,
        sent_ns: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let At::Receiver(receiver) = &mut self.at else {
            return Err(wrong_end("on_packet", "at a sender, expected observe and on_loss"));
        };
        self.is_used = true;
        let judged = receiver.on_packet(seq, at_ns, sent_ns)?;
        self.failures.take(py, self.info.name, "").map_or(Ok(()), Err)?;
        if judged.is_empty() { Ok(PyTuple::empty(py)) } else { PyTuple::new(py, judged) }
    }

    /// Takes in an acknowledgement, at a sender.
    fn observe(&mut self, py: Python<'_>, observation: &algorithms::Observation) -> PyResult<()> {
        self.sender("observe")?.observe(observation)?;
        self.failures.take(py, self.info.name, "").map_or(Ok(()), Err)
    }

    /// Takes in a loss that the sender declares, and judges it.
    fn on_loss(&mut self, py: Python<'_>, loss: &algorithms::Loss) -> PyResult<Judgement> {
        let judgement = self.sender("on_loss")?.declare(loss)?;
        self.failures.take(py, self.info.name, "").map_or(Ok(judgement), Err)
    }

    /// Takes in many packets or acknowledgements, and returns a table of the losses among them:
    /// `seq` of a packet that a receiver misses, `row` (of the packet or acknowledgement that
    /// revealed it, counted from 0), `verdict`, and with `reasons` the numbers that were compared.
    ///
    /// They are a table, or columns by their names. At a receiver: `seq`, `at_ns` or `at_s`, and
    /// `sent_ns` or `sent_s`. At a sender: `at_ns` or `at_s`, and others; a row declares
    /// `lost_pkts` packets lost, by default those that are newly missing; none if it is 0.
    #[pyo3(signature = (table=None, *, reasons=false, **columns))]
    fn classify<'py>(
        &mut self,
        py: Python<'py>,
        table: Option<&Bound<'py, PyAny>>,
        reasons: bool,
        columns: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Table> {
        self.is_used = true;
        let at = &mut self.at;
        let losses: Losses = caught(|| {
            let given = Given::of(table, columns)?;
            match at {
                At::Receiver(receiver) => receiver.classify(py, &given, reasons),
                At::Sender(sender) => sender.classify(py, &given, reasons),
            }
        })?;
        self.failures.take(py, self.info.name, "").map_or(Ok(()), Err)?;
        losses.table()
    }

    /// Pickles what it was made of, which is all of it until it has taken in a packet.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if self.is_used {
            let problem = "the classifier has taken in packets, which are not copied; copy or pickle it before, or \
                           make another";
            return Err(about(problem.to_owned(), None, None));
        }
        let arguments = match &self.recipe.settings {
            Some(settings) => settings.bind(py).copy()?,
            None => PyDict::new(py),
        };
        arguments.set_item("end", self.end())?;
        let class = py.get_type::<Self>();
        let partial = py.import("functools")?.getattr("partial")?;
        let made = partial.call((class, &self.recipe.algorithm), Some(&arguments))?;
        (made, PyTuple::empty(py)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        format!("<losscause.Classifier {} at a {}>", self.info.name, self.end())
    }
}

impl Classifier {
    /// The sender, for a method that receivers do not have.
    fn sender(&mut self, method: &str) -> PyResult<&mut Sender> {
        match &mut self.at {
            At::Sender(sender) => {
                self.is_used = true;
                Ok(sender)
            }
            At::Receiver(_) => Err(wrong_end(
                method,
                "at a receiver, expected on_packet; end=\"sender\" makes a sender",
            )),
        }
    }
}

fn wrong_end(method: &str, problem: &str) -> PyErr {
    about(format!("{method}: this classifier is {problem}"), None, Some("end"))
}

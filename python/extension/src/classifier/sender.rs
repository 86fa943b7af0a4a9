//! An algorithm at a sender, fed with a user's own acknowledgements and losses: one by one, or in
//! columns.

use losscause::ack::RecoveryTracker;
use losscause::observe::Newest;
use losscause::{
    Acked, Algorithm, AnyAlgorithm, AtSender, Loss, Needs, Observation, Signal, Span, Time,
};
use pyo3::prelude::*;

use super::Judgement;
use super::columns::{Columns, Given, Numbers, unsorted};
use super::losses::Losses;
use crate::algorithms::{self, numbers};
use crate::columns::{MISSING, Unit};
use crate::error::about;

/// The columns by their names.
const NAMES: [(&str, Unit); 16] = [
    ("at_ns", Unit::Whole),
    ("at_s", Unit::Seconds),
    ("rtt_ns", Unit::WholeOrMissing),
    ("rtt_s", Unit::SecondsOrMissing),
    ("newly_acked_pkts", Unit::Whole),
    ("spanned_pkts", Unit::Whole),
    ("newly_missing_pkts", Unit::Whole),
    ("missing_first", Unit::WholeOrMissing),
    ("missing_last", Unit::WholeOrMissing),
    ("in_flight_pkts", Unit::Whole),
    ("cwnd_pkts", Unit::NumberOrMissing),
    ("lost_pkts", Unit::Whole),
    ("lost_first", Unit::WholeOrMissing),
    ("lost_last", Unit::WholeOrMissing),
    ("lost_sent_ns", Unit::WholeOrMissing),
    ("lost_sent_s", Unit::SecondsOrMissing),
];

/// An algorithm that judges the losses that a sender declares. One of those for receivers watches
/// round-trip times here, as at a TCP sender.
pub(super) struct Sender {
    lda: AtSender<AnyAlgorithm>,
    name: &'static str,
    newest: Newest,
    recoveries: RecoveryTracker,
    /// The time of the last acknowledgement or loss, nanoseconds.
    last_ns: i64,
}

impl Sender {
    pub(super) fn new(algorithm: AnyAlgorithm, name: &'static str) -> Self {
        Self {
            lda: AtSender::new(algorithm),
            name,
            newest: Newest::default(),
            recoveries: RecoveryTracker::default(),
            last_ns: 0,
        }
    }

    /// Takes in an acknowledgement.
    pub(super) fn observe(&mut self, observation: &algorithms::Observation) -> PyResult<()> {
        self.check_order(observation.at_ns())?;
        let observation = observation.at_sender(&mut self.newest)?;
        self.last_ns = observation.at.as_nanos();
        self.on_ack(&observation);
        Ok(())
    }

    /// Takes in a loss that the sender declares, and judges it.
    pub(super) fn declare(&mut self, loss: &algorithms::Loss) -> PyResult<Judgement> {
        let loss = Loss::from(loss);
        self.check_order(loss.at.as_nanos())?;
        self.last_ns = loss.at.as_nanos();
        Ok(Judgement { seq: loss.seq(), judgement: self.on_loss(&loss) })
    }

    /// Takes in many acknowledgements, and judges the losses that they declare.
    pub(super) fn classify(
        &mut self,
        py: Python<'_>,
        given: &Given<'_, '_>,
        reasons: bool,
    ) -> PyResult<Losses> {
        let columns = given.columns(&NAMES)?;
        let rows = Rows::of(&columns)?;
        self.check_needs(&columns)?;
        py.detach(|| {
            self.last_ns = rows.check(self.last_ns)?;
            Ok(self.take(rows, reasons))
        })
    }

    fn on_ack(&mut self, sample: &Observation) {
        self.lda.observe(sample);
        // The newest acknowledged packet was sent a round-trip time ago.
        if let Some(ended) =
            sample.delay.and_then(|rtt| self.recoveries.on_ack(sample.at, sample.at - rtt))
        {
            // Its loss was judged long ago, so a revised verdict comes too late.
            self.lda.on_recovered(&ended);
        }
    }

    /// A signal that means congestion by itself asks no algorithm.
    fn on_loss(&mut self, loss: &Loss) -> losscause::Judgement {
        self.recoveries.on_loss(loss);
        self.lda.on_loss(loss);
        let signal = loss.signal;
        match signal.means_congestion() {
            true => losscause::Judgement::signalled(signal),
            false => self.lda.judge(loss),
        }
    }

    /// Refuses a time before the last one.
    fn check_order(&self, at_ns: i64) -> PyResult<()> {
        if at_ns < self.last_ns {
            let found =
                format!("at_ns: is {at_ns}, and what came before it was at {}", self.last_ns);
            return Err(unsorted(&found, "at_ns"));
        }
        Ok(())
    }

    /// Refuses columns that lack what the algorithm reads.
    fn check_needs(&self, columns: &Columns<'_>) -> PyResult<()> {
        let has_rtt = columns.has(&["rtt_ns", "rtt_s"]);
        // Who gives acknowledgements in columns knows when they arrived, and how large the gaps
        // are.
        let mut given = Needs::NONE.with_acks().with_spacing().with_gap_size();
        given.delay = has_rtt;
        given.cwnd = columns.has(&["cwnd_pkts"]);
        let needs = self.lda.needs();
        let Some(missing) = needs.first_missing_from(given) else { return Ok(()) };
        let (key, expected) = match needs.delay && !has_rtt {
            true => ("rtt_ns", "the column rtt_ns or rtt_s"),
            false => ("cwnd_pkts", "the column cwnd_pkts"),
        };
        Err(about(format!("{} needs {missing}, expected {expected}", self.name), None, Some(key)))
    }

    fn take(&mut self, rows: Rows<'_>, reasons: bool) -> Losses {
        let mut losses = Losses::at_sender(reasons);
        for (row, Row { sample, loss }) in (0..).zip(rows) {
            let observation = sample.behind(&mut self.newest);
            self.on_ack(&observation);
            if let Some(loss) = loss {
                losses.push_row(row, &self.on_loss(&loss));
            }
        }
        losses
    }
}

/// A column from row to row: its numbers, or nothing if it is not there.
struct Cells<'a> {
    numbers: Option<Numbers<'a>>,
    part: usize,
    at: usize,
}

impl Cells<'_> {
    /// The next number; none if it is missing.
    #[inline]
    fn next(&mut self) -> Option<i64> {
        let parts = &self.numbers.as_ref()?.parts;
        while self.at == parts.get(self.part)?.len() {
            (self.part, self.at) = (self.part + 1, 0);
        }
        let number = parts[self.part][self.at];
        self.at += 1;
        (number != MISSING).then_some(number)
    }

    fn next_count(&mut self) -> Option<u32> {
        self.next().map(|number| number as u32)
    }
}

/// Acknowledgements with their losses, row by row.
struct Rows<'a> {
    left: usize,
    at: Cells<'a>,
    rtt: Cells<'a>,
    newly_acked: Cells<'a>,
    spanned: Cells<'a>,
    newly_missing: Cells<'a>,
    missing: [Cells<'a>; 2],
    in_flight: Cells<'a>,
    cwnd: Cells<'a>,
    lost: Cells<'a>,
    lost_numbers: [Cells<'a>; 2],
    lost_sent: Cells<'a>,
}

/// An acknowledgement, and the loss that is declared with it.
struct Row {
    sample: Sample,
    loss: Option<Loss>,
}

/// What an acknowledgement tells.
struct Sample {
    at: Time,
    rtt: Option<Span>,
    /// How many packets it spans, and how many of them are missing.
    spans: [u32; 2],
    acked: Acked,
}

impl Sample {
    fn behind(&self, newest: &mut Newest) -> Observation {
        newest.advance(self.at, self.rtt, self.spans).with_acked(self.acked)
    }
}

impl<'a> Rows<'a> {
    /// Refuses columns of unequal lengths.
    fn of(columns: &'a Columns<'_>) -> PyResult<Self> {
        let at = columns.needed(&["at_ns", "at_s"])?;
        let cells = |names: &[&str]| -> PyResult<Cells<'a>> {
            let numbers = columns.numbers(names)?;
            if let Some(numbers) = &numbers {
                numbers.check_length(&at)?;
            }
            Ok(Cells { numbers, part: 0, at: 0 })
        };
        Ok(Self {
            left: at.rows(),
            at: cells(&["at_ns", "at_s"])?,
            rtt: cells(&["rtt_ns", "rtt_s"])?,
            newly_acked: cells(&["newly_acked_pkts"])?,
            spanned: cells(&["spanned_pkts"])?,
            newly_missing: cells(&["newly_missing_pkts"])?,
            missing: [cells(&["missing_first"])?, cells(&["missing_last"])?],
            in_flight: cells(&["in_flight_pkts"])?,
            cwnd: cells(&["cwnd_pkts"])?,
            lost: cells(&["lost_pkts"])?,
            lost_numbers: [cells(&["lost_first"])?, cells(&["lost_last"])?],
            lost_sent: cells(&["lost_sent_ns", "lost_sent_s"])?,
        })
    }

    /// Refuses negative numbers, counts that are too large, and times in another order. Returns the
    /// last time.
    fn check(&self, last_ns: i64) -> PyResult<i64> {
        let counts = [&self.newly_acked, &self.spanned, &self.newly_missing, &self.lost];
        let [missing_first, missing_last] = &self.missing;
        let [lost_first, lost_last] = &self.lost_numbers;
        let others = [
            missing_first,
            missing_last,
            &self.in_flight,
            &self.cwnd,
            lost_first,
            lost_last,
            &self.lost_sent,
        ];
        for column in counts
            .iter()
            .chain(&others)
            .chain([&&self.rtt])
            .filter_map(|cells| cells.numbers.as_ref())
        {
            column.check()?;
        }
        counts
            .iter()
            .filter_map(|cells| cells.numbers.as_ref())
            .try_for_each(|column| column.check_most(u32::MAX))?;
        let last =
            self.at.numbers.as_ref().map(|at| at.check_sorted(last_ns as u64)).transpose()?;
        Ok(last.map_or(last_ns, |last| last as i64))
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        self.left = self.left.checked_sub(1)?;
        let at = Time::from_nanos(self.at.next()?);
        let rtt = self.rtt.next().map(Span::from_nanos);
        let pkts = self.newly_acked.next_count().unwrap_or(1);
        let missing = self.newly_missing.next_count().unwrap_or(0);
        let spanned = self.spanned.next_count().unwrap_or_else(|| pkts.saturating_add(missing));
        let range = |[first, last]: &mut [Cells<'_>; 2]| {
            let first = first.next();
            let last = last.next();
            numbers(first.map(|first| first as u64), last.map(|last| last as u64))
        };
        let mut acked = Acked::new(pkts.into());
        acked.missing = range(&mut self.missing);
        acked.in_flight_pkts = self.in_flight.next().unwrap_or(0) as u64;
        acked.cwnd_pkts = self.cwnd.next().map(|bits| f64::from_bits(bits as u64));
        let sample = Sample { at, rtt, spans: [spanned, missing], acked };
        let lost_pkts = self.lost.next_count().unwrap_or(missing);
        let lost = range(&mut self.lost_numbers);
        let sent_at = self.lost_sent.next().map(Time::from_nanos);
        let loss = (lost_pkts > 0).then(|| {
            let mut loss = Loss::new(at, Signal::Gap);
            (loss.numbers, loss.lost_pkts, loss.sent_at) = (lost, lost_pkts, sent_at);
            (loss.in_flight_pkts, loss.cwnd_pkts) = (acked.in_flight_pkts, acked.cwnd_pkts);
            loss
        });
        Some(Row { sample, loss })
    }
}

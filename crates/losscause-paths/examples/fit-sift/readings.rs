//! What Sift reads at the losses of drawn paths.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use losscause::lda::sift::{Card, Clues};
use losscause::lda::{AtSender, Needs, Sift, SiftConfig};
use losscause::truth::Cause;
use losscause::{Arrival, Judgement, Lda, Loss, Reason, SenderLda, Verdict};
use losscause_paths::{JudgedLoss, Path, Vantage, judged_at_receiver, judged_at_sender};
use losscause_study::parallel::{Jobs, map};

/// Seeds of the paths that the weights are fitted to.
pub(crate) const SEEDS: RangeInclusive<u64> = 101..=116;
/// Seeds that only check the fit.
pub(crate) const VALIDATION: RangeInclusive<u64> = 117..=120;
/// Paths of each seed.
const PATHS: u32 = 100;
/// Losses of each cause that a path needs to count, as in the benchmark.
const LEAST: usize = 10;
/// The most losses of a cause that are kept of a path, spread evenly.
const MOST: usize = 400;

/// The readings at one loss.
pub(crate) struct Reading {
    pub(crate) clues: Clues,
    pub(crate) wireless: bool,
    /// Its share of the error of its path.
    pub(crate) weight: f64,
}

/// The readings of many paths.
pub(crate) struct Readings {
    pub(crate) all: Vec<Reading>,
    paths: usize,
}

impl Readings {
    /// Runs the paths of these seeds.
    pub(crate) fn of(vantage: Vantage, seeds: RangeInclusive<u64>) -> Self {
        assert!(*seeds.end() < 1_000, "only seeds below 1000 are for training");
        let paths: Vec<_> = seeds.flat_map(|seed| (0..PATHS).map(move |number| Path::draw(seed, number))).collect();
        let found = map(&paths, Jobs::default(), |path| read(path, vantage), |_| ());
        let mut readings = Self { all: Vec::new(), paths: 0 };
        found.iter().for_each(|losses| readings.add(losses));
        readings
    }

    fn add(&mut self, losses: &[(Clues, bool)]) {
        let of = |cause: bool| losses.iter().filter(move |(_, wireless)| *wireless == cause).map(|(clues, _)| *clues);
        let causes: Vec<_> = [false, true].into_iter().map(|cause| (cause, of(cause).collect::<Vec<_>>())).collect();
        let counting: Vec<_> = causes.iter().filter(|(_, losses)| losses.len() >= LEAST).collect();
        for (wireless, losses) in &counting {
            let kept = losses.len().min(MOST);
            let weight = 1.0 / (counting.len() * kept) as f64;
            let spread = (0..kept).map(|i| losses[i * losses.len() / kept]);
            self.all.extend(spread.map(|clues| Reading { clues, wireless: *wireless, weight }));
        }
        self.paths += usize::from(!counting.is_empty());
    }

    pub(crate) fn losses(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn paths(&self) -> usize {
        self.paths
    }

    /// The balanced error of a card, percent, the mean over the paths.
    pub(crate) fn error(&self, card: &Card) -> f64 {
        let wrong = self.all.iter().filter(|reading| (card.sum(&reading.clues) > 0) != reading.wireless);
        wrong.map(|reading| reading.weight).sum::<f64>() * 100.0 / self.paths as f64
    }
}

/// The readings at the losses of a path that Sift can answer for, in their order, and whether each was wireless.
fn read(path: &Path, vantage: Vantage) -> Vec<(Clues, bool)> {
    let config = SiftConfig::balanced();
    let losses = match vantage {
        Vantage::Receiver => judged_at_receiver(
            path,
            |_| Reader::new(Sift::new(&config).expect("valid")),
            |reader, loss| reader.read(loss.revealed_by.seq),
        ),
        Vantage::Sender => judged_at_sender(
            path,
            |_| AtSender::new(Reader::new(Sift::with_rtts(&config).expect("valid"))),
            |sender, loss| {
                sender.judge(loss);
                sender.lda().asked.lock().expect("not poisoned").take()
            },
        ),
    };
    let with_clues = |loss: JudgedLoss<Option<Clues>>| Some((loss.seen?, loss.cause == Cause::Wireless));
    losses.expect("a drawn path runs").into_iter().filter_map(with_clues).collect()
}

/// Sift, and what it read at the last gaps.
#[derive(Clone)]
struct Reader {
    sift: Sift,
    gaps: [Option<(u64, Clues)>; 8],
    /// What it read at the gap of the last judgement.
    asked: Arc<Mutex<Option<Clues>>>,
}

impl Reader {
    fn new(sift: Sift) -> Self {
        Self { sift, gaps: [None; 8], asked: Arc::default() }
    }

    fn read(&self, after_gap: u64) -> Option<Clues> {
        self.gaps.iter().flatten().find(|(seq, _)| *seq == after_gap).map(|(_, clues)| *clues)
    }
}

impl Lda for Reader {
    fn name(&self) -> &'static str {
        "Sift's readings"
    }

    fn needs(&self) -> Needs {
        self.sift.needs()
    }

    fn on_arrival(&mut self, arrival: &Arrival) {
        if let Some(clues) = self.sift.clues(arrival) {
            self.gaps.rotate_right(1);
            self.gaps[0] = Some((arrival.seq, clues));
        }
        self.sift.on_arrival(arrival);
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        *self.asked.lock().expect("not poisoned") = self.read(loss.revealed_by.seq);
        Judgement { verdict: Verdict::Congestion, reason: Reason::Unconditional }
    }
}

//! What Sift reads at the losses of drawn paths.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use losscause::lda::sift::{Card, Clues, Earlier};
use losscause::lda::{Sift, SiftConfig};
use losscause::{Algorithm, AtSender, Judgement, Loss, Needs, Observation, Verdict};
use losscause_experiments::paths::score::LEAST_LOSSES;
use losscause_experiments::paths::{JudgedLoss, Path, Vantage, judged};
use losscause_sim::truth::Cause;
use losscause_study::Jobs;

/// Seeds of the paths that the weights are fitted to.
pub(crate) const SEEDS: RangeInclusive<u64> = 121..=220;
/// Seeds that only check the fit.
pub(crate) const VALIDATION: RangeInclusive<u64> = 101..=120;
/// Paths of each seed.
const PATHS: u32 = 100;
/// The most losses of a cause that are kept of a path, spread evenly.
const MOST: usize = 60;

/// The readings at one loss.
pub(crate) struct Reading {
    pub(crate) clues: Clues,
    pub(crate) wireless: bool,
    /// The loss's share of the error of its path.
    pub(crate) weight: f64,
}

/// The readings of many paths.
pub(crate) struct Readings {
    paths: Vec<Read>,
}

/// What was read along one path.
struct Read {
    /// At every gap of each flow, in their order.
    gaps: Vec<Vec<Clues>>,
    /// The losses that are kept.
    losses: Vec<Kept>,
}

/// A loss that was judged at a gap of a flow.
#[derive(Clone, Copy)]
struct Kept {
    flow: usize,
    gap: usize,
    wireless: bool,
}

impl Readings {
    /// Runs the paths of these seeds.
    pub(crate) fn of(vantage: Vantage, seeds: RangeInclusive<u64>) -> Self {
        assert!(*seeds.end() < 1_000, "only seeds below 1000 are for training");
        let paths: Vec<_> =
            seeds.flat_map(|seed| (0..PATHS).map(move |number| Path::draw(seed, number))).collect();
        let paths = Jobs::default().map(&paths, |path| Read::of(path, vantage), |_| ());
        Self { paths: paths.into_iter().filter(|read| !read.losses.is_empty()).collect() }
    }

    pub(crate) fn losses(&self) -> usize {
        self.paths.iter().map(|read| read.losses.len()).sum()
    }

    pub(crate) fn paths(&self) -> usize {
        self.paths.len()
    }

    /// The readings at all losses. What a gap remembers of earlier ones is that of this card.
    pub(crate) fn with_memory_of(&self, card: &Card) -> Vec<Reading> {
        self.paths.iter().flat_map(|read| read.with_memory_of(card)).collect()
    }

    /// The balanced error of a card, percent, the mean over the paths.
    pub(crate) fn error(&self, card: &Card) -> f64 {
        let readings = self.with_memory_of(card);
        let wrong = readings
            .iter()
            .filter(|reading| (card.weigh(&reading.clues).sum > 0) != reading.wireless);
        wrong.map(|reading| reading.weight).sum::<f64>() * 100.0 / self.paths() as f64
    }
}

impl Read {
    fn of(path: &Path, vantage: Vantage) -> Self {
        let config = SiftConfig::balanced();
        let gaps = Gaps::default();
        let reader = |flow| {
            let sift = match vantage {
                Vantage::Receiver => Sift::new(&config),
                Vantage::Sender => Sift::with_rtts(&config),
            };
            Reader::new(sift.expect("valid"), flow, &gaps)
        };
        let losses = judged(
            path,
            vantage,
            |flow| AtSender::new(reader(flow)),
            |sender, loss| {
                let revealed =
                    sender.revealed(loss.numbers).last().or(loss.revealed_by.as_ref())?;
                sender.algorithm().read(revealed.seq)
            },
        );
        let with_gap = |loss: JudgedLoss<Option<usize>>| {
            Some(Kept { flow: loss.flow, gap: loss.seen?, wireless: loss.cause == Cause::Wireless })
        };
        let losses: Vec<_> =
            losses.expect("a drawn path runs").into_iter().filter_map(with_gap).collect();
        let gaps = std::mem::take(&mut *gaps.lock().expect("not poisoned"));
        Self {
            gaps,
            losses: [false, true].into_iter().flat_map(|cause| kept(&losses, cause)).collect(),
        }
    }

    fn with_memory_of(&self, card: &Card) -> Vec<Reading> {
        let gaps: Vec<_> = self.gaps.iter().map(|flow| with_memory_of(card, flow)).collect();
        let of = |cause: bool| self.losses.iter().filter(|loss| loss.wireless == cause).count();
        let causes = [false, true].into_iter().filter(|cause| of(*cause) > 0).count();
        let weights = [false, true].map(|cause| 1.0 / (causes * of(cause)) as f64);
        let reading = |loss: &Kept| Reading {
            clues: gaps[loss.flow][loss.gap],
            wireless: loss.wireless,
            weight: weights[usize::from(loss.wireless)],
        };
        self.losses.iter().map(reading).collect()
    }
}

/// The gaps of a flow as a flow with this card reads them.
fn with_memory_of(card: &Card, gaps: &[Clues]) -> Vec<Clues> {
    let mut earlier = Earlier::NEW;
    let with_memory = |clues: &Clues| {
        let mut clues = *clues;
        clues.0[Clues::EARLIER] = earlier.reading();
        earlier.observe(card.weigh(&clues).own);
        clues
    };
    gaps.iter().map(with_memory).collect()
}

/// The losses of a cause that are kept; none if the benchmark would not count them.
fn kept(losses: &[Kept], cause: bool) -> Vec<Kept> {
    let of: Vec<_> = losses.iter().copied().filter(|loss| loss.wireless == cause).collect();
    let kept = if of.len() < LEAST_LOSSES as usize { 0 } else { of.len().min(MOST) };
    (0..kept).map(|i| of[i * of.len() / kept]).collect()
}

/// The readings at the gaps of each flow of a path.
type Gaps = Arc<Mutex<Vec<Vec<Clues>>>>;

/// Sift, and what it read at the gaps.
#[derive(Clone)]
struct Reader {
    sift: Sift,
    flow: usize,
    gaps: Gaps,
    /// The packets after the last gaps, and the numbers of these gaps.
    last: [Option<(u64, usize)>; 8],
}

impl Reader {
    fn new(sift: Sift, flow: usize, gaps: &Gaps) -> Self {
        Self { sift, flow, gaps: Arc::clone(gaps), last: [None; 8] }
    }

    fn read(&self, after_gap: u64) -> Option<usize> {
        self.last.iter().flatten().find(|(seq, _)| *seq == after_gap).map(|(_, gap)| *gap)
    }
}

impl Algorithm for Reader {
    fn name(&self) -> &'static str {
        "Sift's readings"
    }

    fn needs(&self) -> Needs {
        self.sift.needs()
    }

    fn observe(&mut self, arrival: &Observation) {
        if let Some(clues) = self.sift.clues(arrival) {
            let mut flows = self.gaps.lock().expect("not poisoned");
            if flows.len() <= self.flow {
                flows.resize(self.flow + 1, Vec::new());
            }
            let gaps = &mut flows[self.flow];
            self.last.rotate_right(1);
            self.last[0] = Some((arrival.seq, gaps.len()));
            gaps.push(clues);
        }
        self.sift.observe(arrival);
    }

    fn judge(&self, _: &Loss) -> Judgement {
        Judgement::stated(Verdict::Congestion, "reader", "whatever was observed")
    }
}

//! What Sift reads at the losses of drawn paths and of networks abroad.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use losscause::lda::sift::{Card, Clues, Earlier};
use losscause::lda::{AnyAlgorithm, Sift, SiftConfig};
use losscause::{Algorithm, AtSender, Judgement, Loss, Needs, Observation, Verdict};
use losscause_experiments::abroad::{Kind, Role};
use losscause_experiments::drawn::score::LEAST_LOSSES;
use losscause_experiments::drawn::{End, JudgedLoss, judged};
use losscause_experiments::paths::Path;
use losscause_sim::truth::Cause;
use losscause_sim::{TcpLda, Traffic};
use losscause_study::{Experiment, Jobs};

/// Seeds of the paths that the weights are fitted to.
pub(crate) const SEEDS: RangeInclusive<u64> = 121..=150;
/// Seeds of paths that only check the fit.
pub(crate) const VALIDATION: RangeInclusive<u64> = 101..=105;
/// Seeds of the networks abroad that the weights are fitted to, of each kind.
pub(crate) const ABROAD: RangeInclusive<u64> = 0..=119;
/// Seeds of those that only check the fit.
pub(crate) const ABROAD_VALIDATION: RangeInclusive<u64> = 2_000..=2_023;
/// Paths of each seed.
const PATHS: u32 = 100;
/// The most losses of a cause that are kept of a run, spread evenly.
const MOST: usize = 60;
/// A cause with fewer losses in a run abroad is left out.
const LEAST_ABROAD: usize = 5;
/// What steers the flows abroad, in turns by seed: an algorithm, or the card of the fit before.
const PILOTS: [Option<&str>; 6] =
    [Some("always congestion"), Some("Spike"), None, Some("omniscient"), None, Some("ZBS")];
/// Without a card, what steers in its place.
const WITHOUT_CARD: &str = "Spike-Tobe";

/// The readings at one loss.
pub(crate) struct Reading {
    pub(crate) clues: Clues,
    pub(crate) wireless: bool,
    /// The loss's share of the error of its run, times the run's weight.
    pub(crate) weight: f64,
}

/// The readings of many runs.
#[derive(Default)]
pub(crate) struct Readings {
    runs: Vec<Run>,
}

/// What was read along one run.
struct Run {
    /// The kind of the network; none of a drawn path.
    kind: Option<&'static str>,
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
    pub(crate) fn of_paths(end: End, seeds: RangeInclusive<u64>) -> Self {
        assert!(*seeds.end() < 1_000, "only seeds below 1000 are for training");
        let paths: Vec<_> =
            seeds.flat_map(|seed| (0..PATHS).map(move |number| Path::draw(seed, number))).collect();
        let run = |path: &Path| {
            let experiment = path.experiment(end).expect("a drawn path is valid");
            Run::of(None, &experiment, path.run_seed(), end, LEAST_LOSSES as usize)
        };
        Self::with_losses(Jobs::default().map(&paths, run, |_| ()))
    }

    /// Runs the networks of these seeds of all kinds that may be fitted to. Sift with this card
    /// steers a third of them.
    pub(crate) fn abroad(
        end: End,
        seeds: RangeInclusive<u64>,
        card: Option<&'static Card>,
    ) -> Self {
        let networks: Vec<_> = Kind::all(Role::Fitted)
            .flat_map(|kind| seeds.clone().map(move |seed| (kind, seed)))
            .collect();
        let run = |&(kind, seed): &(&'static Kind, u64)| {
            let pilot = PILOTS[seed as usize % PILOTS.len()];
            let name = pilot.unwrap_or(if card.is_some() { "Sift" } else { WITHOUT_CARD });
            let mut experiment =
                kind.draw(seed).experiment(end, name).expect("a drawn network is valid");
            if let (None, Some(card)) = (pilot, card) {
                // Half of its flows follow it with its margin, half are more careful.
                let is_careful = seed as usize % PILOTS.len() == 4;
                let margin_db = if is_careful { 6.0 } else { SiftConfig::default().margin_db };
                let config = SiftConfig { margin_db };
                steer(&mut experiment, &config, card);
            }
            Run::of(Some(kind.name), &experiment, seed, end, LEAST_ABROAD)
        };
        Self::with_losses(Jobs::default().map(&networks, run, |_| ()))
    }

    fn with_losses(runs: Vec<Run>) -> Self {
        Self { runs: runs.into_iter().filter(|run| !run.losses.is_empty()).collect() }
    }

    /// These and those.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.runs.extend(others.runs);
        self
    }

    pub(crate) fn losses(&self) -> usize {
        self.runs.iter().map(|run| run.losses.len()).sum()
    }

    /// How many of the runs are drawn paths.
    pub(crate) fn paths(&self) -> usize {
        self.runs.iter().filter(|run| run.kind.is_none()).count()
    }

    /// How many runs there are of each kind abroad.
    fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        self.runs
            .iter()
            .filter_map(|run| run.kind)
            .for_each(|kind| *kinds.entry(kind).or_default() += 1);
        kinds
    }

    /// The readings at all losses. What a gap remembers of earlier ones is that of this card. Every
    /// path has the same weight; the kinds are alike, and together as heavy as the paths.
    pub(crate) fn with_memory_of(&self, card: &Card) -> Vec<Reading> {
        let kinds = self.kinds();
        let of_all_kinds = self.paths().max(1) as f64 / kinds.len().max(1) as f64;
        let weight = |run: &Run| run.kind.map_or(1.0, |kind| of_all_kinds / kinds[kind] as f64);
        self.runs.iter().flat_map(|run| run.with_memory_of(card, weight(run))).collect()
    }

    /// The balanced error of a card, percent, the mean over the drawn paths.
    pub(crate) fn error(&self, card: &Card) -> f64 {
        let of_paths = self.runs.iter().filter(|run| run.kind.is_none());
        let readings = of_paths.flat_map(|run| run.with_memory_of(card, 1.0));
        let wrong = readings
            .filter(|reading| (card.weigh(&reading.clues).sum > 0) != reading.wireless)
            .map(|reading| reading.weight);
        wrong.sum::<f64>() * 100.0 / self.paths() as f64
    }

    /// For each kind abroad the shares of congestion and of wireless losses that the card calls
    /// wireless above this margin, in tenths of a decibel: percent, the mean over its runs with
    /// such losses, and how many these are.
    pub(crate) fn called_wireless(
        &self,
        card: &Card,
        margin: i16,
    ) -> BTreeMap<&'static str, [(f64, usize); 2]> {
        let mut kinds: BTreeMap<&'static str, [(f64, usize); 2]> = BTreeMap::new();
        for (kind, run) in self.runs.iter().filter_map(|run| Some((run.kind?, run))) {
            let readings = run.with_memory_of(card, 1.0);
            for wireless in [false, true] {
                let of_cause = readings.iter().filter(|reading| reading.wireless == wireless);
                let count = of_cause.clone().count();
                let called =
                    of_cause.filter(|reading| card.weigh(&reading.clues).sum > margin).count();
                if count > 0 {
                    let (sum, runs) = &mut kinds.entry(kind).or_default()[usize::from(wireless)];
                    *sum += 100.0 * called as f64 / count as f64;
                    *runs += 1;
                }
            }
        }
        let mean = |(sum, runs): (f64, usize)| (sum / runs.max(1) as f64, runs);
        kinds.into_iter().map(|(kind, causes)| (kind, causes.map(mean))).collect()
    }

    /// The values that divide the losses into eight parts by a reading, each part of equal weight.
    pub(crate) fn octiles(readings: &[Reading], clue: usize) -> [u16; 7] {
        let mut values: Vec<(u16, f64)> =
            readings.iter().map(|reading| (reading.clues.0[clue], reading.weight)).collect();
        values.sort_by_key(|(value, _)| *value);
        let whole: f64 = values.iter().map(|(_, weight)| weight).sum();
        std::array::from_fn(|i| {
            let mut left = whole * (i + 1) as f64 / 8.0;
            let at = values.iter().find(|(_, weight)| {
                left -= weight;
                left <= 0.0
            });
            at.map_or(u16::MAX, |(value, _)| *value)
        })
    }
}

/// Lets Sift with this card steer the measured flows.
fn steer(experiment: &mut Experiment, config: &SiftConfig, card: &'static Card) {
    let sift = AnyAlgorithm::Sift(Sift::with_card(config, card).expect("valid"));
    for flow in experiment.network.flows.iter_mut().filter(|flow| flow.measured) {
        match &mut flow.traffic {
            Traffic::Tcp { lda, .. } => *lda = TcpLda::Sender(sift.clone()),
            Traffic::Tfrc { lda, .. } => *lda = sift.clone(),
            Traffic::Cbr { .. } | Traffic::OnOff { .. } | Traffic::Poisson { .. } => {}
        }
    }
}

impl Run {
    fn of(
        kind: Option<&'static str>,
        experiment: &Experiment,
        seed: u64,
        end: End,
        least: usize,
    ) -> Self {
        let config = SiftConfig::default();
        let gaps = Gaps::default();
        let reader = |flow| {
            let sift = match end {
                End::Receiver => Sift::new(&config),
                End::Sender => Sift::with_rtts(&config),
            };
            Reader::new(sift.expect("valid"), flow, &gaps)
        };
        let losses = judged(
            experiment,
            seed,
            end,
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
            losses.expect("a drawn network runs").into_iter().filter_map(with_gap).collect();
        let gaps = std::mem::take(&mut *gaps.lock().expect("not poisoned"));
        let losses =
            [false, true].into_iter().flat_map(|cause| kept(&losses, cause, least)).collect();
        Self { kind, gaps, losses }
    }

    fn with_memory_of(&self, card: &Card, weight: f64) -> Vec<Reading> {
        let gaps: Vec<_> = self.gaps.iter().map(|flow| with_memory_of(card, flow)).collect();
        let of = |cause: bool| self.losses.iter().filter(|loss| loss.wireless == cause).count();
        let causes = [false, true].into_iter().filter(|cause| of(*cause) > 0).count();
        let weights = [false, true].map(|cause| weight / (causes * of(cause)) as f64);
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

/// The losses of a cause that are kept; none if there are fewer than `least`.
fn kept(losses: &[Kept], cause: bool, least: usize) -> Vec<Kept> {
    let of: Vec<_> = losses.iter().copied().filter(|loss| loss.wireless == cause).collect();
    let kept = if of.len() < least { 0 } else { of.len().min(MOST) };
    (0..kept).map(|i| of[i * of.len() / kept]).collect()
}

/// The readings at the gaps of each flow of a run.
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

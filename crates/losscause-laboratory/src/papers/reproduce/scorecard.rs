//! The score of a paper in one line.

use std::fmt;

use super::{Reproduction, Sheet};
use crate::papers::record::{self, ClaimOutcome, Item, Paper, Status, Summary};
use crate::papers::score::{self, Score};

/// The score of one paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorecard {
    /// Short name of the paper.
    pub paper: String,
    /// Runs that the rule of scoring asks for.
    pub repetitions: u32,
    /// Fewest runs behind a measured item.
    pub runs: u32,
    /// All its numbers that count; one that was not measured is missed.
    pub numbers: Score,
    /// The numbers among them that were measured.
    pub measured: Score,
    /// Claims that hold.
    pub holding: usize,
    /// Claims that were settled either way.
    pub settled: usize,
    /// Claims that runs can settle.
    pub checkable: usize,
}

impl fmt::Display for Scorecard {
    /// One line: `cen2003: numbers 36/46 = 78.3 % (floor 43.5 %), claims 15/17 = 88.2 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let Score { reproduced, numbers, floor, .. } = self.numbers;
        write!(
            f,
            "{}: numbers {reproduced}/{numbers} = {:.1} % (floor {:.1} %), claims {}/{} = {:.1} %",
            self.paper,
            percent(reproduced, numbers),
            percent(floor, numbers),
            self.holding,
            self.checkable,
            percent(self.holding, self.checkable)
        )
    }
}

impl Scorecard {
    /// Whether fewer runs were made than the paper made: then nothing is scored.
    pub fn is_preview(&self) -> bool {
        self.runs > 0 && self.runs < self.repetitions
    }

    /// How many of the measured numbers are within tolerance: `36 of 42 numbers within tolerance (a
    /// constant guess would get 30)`; after too few runs `preview: 36 of 42 within tolerance after
    /// 2 of 10 runs`.
    pub fn numbers_in_words(&self) -> String {
        let Score { within_tolerance: within, numbers, floor, .. } = self.measured;
        let Self { runs, repetitions, .. } = self;
        match (numbers, self.is_preview()) {
            (0, _) if self.numbers.numbers == 0 => "the paper prints no numbers".to_owned(),
            (0, _) => "no scored number measured".to_owned(),
            (_, true) => format!(
                "preview: {within} of {numbers} within tolerance after {runs} of {repetitions} runs"
            ),
            (_, false) => {
                format!(
                    "{within} of {numbers} numbers within tolerance (a constant guess would get {floor})"
                )
            }
        }
    }

    /// How many of the claims that the measured values settle hold: `30 of 35 claims hold`.
    pub fn claims_in_words(&self) -> String {
        let Self { holding, settled, .. } = self;
        match (settled, self.is_preview()) {
            (0, _) => "no claim settled".to_owned(),
            (1, false) => format!("{holding} of 1 claim holds"),
            (_, false) => format!("{holding} of {settled} claims hold"),
            (_, true) => format!("{holding} of {settled} claims hold so far"),
        }
    }
}

impl Reproduction {
    /// One scorecard per paper that was asked for and publishes numbers.
    pub fn scorecards(&self) -> Vec<Scorecard> {
        let mut cards = Vec::new();
        for paper in record::all().iter().filter(|paper| paper.is_published()) {
            let mine: Vec<Item> =
                self.items.iter().filter(|i| i.paper == paper.key()).cloned().collect();
            if mine.is_empty() {
                continue;
            }
            let claims: Vec<&ClaimOutcome> =
                self.claims.iter().filter(|c| c.paper == paper.key()).collect();
            cards.push(Scorecard {
                paper: paper.key().to_owned(),
                repetitions: paper.published().repetitions,
                runs: mine.iter().map(|i| i.runs).filter(|&runs| runs > 0).min().unwrap_or(0),
                numbers: Score::of(paper.published(), &mine, |_| true),
                measured: score_of(paper, &mine),
                holding: claims.iter().filter(|c| c.holds == Some(true)).count(),
                settled: claims.iter().filter(|c| c.holds.is_some()).count(),
                checkable: paper.published().claim.iter().filter(|c| c.checkable).count(),
            });
        }
        cards
    }
}

/// The answer of all papers together in one sentence that a colleague could repeat.
pub fn answer_in_words(cards: &[Scorecard]) -> String {
    let sum = |of: fn(&Scorecard) -> usize| cards.iter().map(of).sum::<usize>();
    let within = sum(|c| c.measured.within_tolerance);
    let numbers = sum(|c| c.measured.numbers);
    let floor = sum(|c| c.measured.floor);
    let holding = sum(|c| c.holding);
    let settled = sum(|c| c.settled);
    let claims = match settled {
        0 => "no claim was settled".to_owned(),
        _ => format!("{holding} of {settled} claims hold"),
    };
    if cards.iter().any(Scorecard::is_preview) {
        let after = "after fewer runs than the papers made";
        return match numbers {
            0 => format!("preview: {claims}, {after}."),
            _ => format!(
                "preview: {within} of {numbers} published numbers within tolerance, {claims}, {after}."
            ),
        };
    }
    match numbers {
        0 if settled == 0 => "Nothing that was measured here is scored.".to_owned(),
        0 => format!("Of the papers' claims that were tested, {claims}."),
        _ => format!(
            "{within} of {numbers} published numbers are within tolerance (a constant guess would get {floor}); \
             {claims}."
        ),
    }
}

/// For a record of medians: that fewer runs were made than it asks for, and what that means. None
/// otherwise.
pub fn preview_in_words(reproduction: &Reproduction, sheets: &[Sheet]) -> Option<String> {
    let published = sheets.first()?.paper.published();
    let runs = reproduction.items.iter().map(|item| item.runs).max()?;
    (published.summary == Summary::Median && runs < published.repetitions).then(|| {
        let has_intervals = reproduction.items.iter().any(|item| item.median_ci95.is_some());
        let intervals = if has_intervals {
            "wider intervals"
        } else {
            "no intervals, for which six runs are needed"
        };
        format!("Preview after {runs} of {} runs: {intervals}.", published.repetitions)
    })
}

/// The score of a table or figure in words: `21 of 22 numbers within tolerance; a constant guess
/// would get 18`, or after too few runs `preview: 21 of 22 within tolerance after 2 of 10 runs`.
pub fn score_in_words(paper: &Paper, items: &[Item]) -> String {
    let Score { within_tolerance: within, numbers, floor, .. } = score_of(paper, items);
    let runs =
        items.iter().filter(|item| item.status == Status::Preview).map(|item| item.runs).min();
    match (numbers, runs) {
        (0, _) => "nothing here is scored".to_owned(),
        (_, Some(runs)) => {
            let of = paper.published().repetitions;
            format!("preview: {within} of {numbers} within tolerance after {runs} of {of} runs")
        }
        (_, None) => format!(
            "{within} of {numbers} numbers within tolerance; a constant guess would get {floor}"
        ),
    }
}

/// Scores the published numbers that `items`, all of one table or figure, measure.
pub fn score_of(paper: &Paper, items: &[Item]) -> Score {
    Score::of(paper.published(), items, |number| score::lookup_number(items, number).is_some())
}

//! The score of a paper in one line.

use std::fmt;

use super::Reproduction;
use crate::papers::record::{self, Paper};
use crate::papers::record::{ClaimOutcome, Item};
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
    /// Its numbers.
    pub numbers: Score,
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

impl Reproduction {
    /// One scorecard per paper that was asked for and publishes numbers.
    pub fn scorecards(&self) -> Vec<Scorecard> {
        let mut cards = Vec::new();
        for paper in record::all().iter().filter(|paper| paper.is_published()) {
            let mine: Vec<Item> = self.items.iter().filter(|i| i.paper == paper.key()).cloned().collect();
            if mine.is_empty() {
                continue;
            }
            let claims: Vec<&ClaimOutcome> = self.claims.iter().filter(|c| c.paper == paper.key()).collect();
            cards.push(Scorecard {
                paper: paper.key().to_owned(),
                repetitions: paper.published().repetitions,
                runs: mine.iter().map(|i| i.runs).filter(|&runs| runs > 0).min().unwrap_or(0),
                numbers: Score::of(paper.published(), &mine, |_| true),
                holding: claims.iter().filter(|c| c.holds == Some(true)).count(),
                settled: claims.iter().filter(|c| c.holds.is_some()).count(),
                checkable: paper.published().claim.iter().filter(|c| c.checkable).count(),
            });
        }
        cards
    }
}

/// Scores the published numbers that `items`, all of one table or figure, measure.
pub fn score_of(paper: &Paper, items: &[Item]) -> Score {
    Score::of(paper.published(), items, |number| score::lookup_number(items, number).is_some())
}

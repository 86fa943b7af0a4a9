//! The score of a paper in one line.

use std::fmt;

use super::{Reproduction, Sheet};
use crate::papers::record::{self, ClaimOutcome, Item, Number, Paper, Status, Summary};
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
    /// The score without the numbers and claims that the paper itself contradicts.
    pub possible: Possible,
}

/// The score of the measured values that can be met: without those that the paper itself
/// contradicts ([`Explanation::impossible`](crate::papers::record::Explanation)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Possible {
    /// The numbers that were measured.
    pub numbers: Score,
    /// Claims that hold.
    pub holding: usize,
    /// Claims that were settled either way.
    pub settled: usize,
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

    /// The second score of the paper, in words; none if it contradicts nothing that was measured.
    pub fn possible_in_words(&self) -> Option<String> {
        possible_in_words(std::slice::from_ref(self))
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
                possible: possible(paper, &mine, &claims),
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

fn possible(paper: &Paper, items: &[Item], claims: &[&ClaimOutcome]) -> Possible {
    let can_be_met = |number: &Number| {
        !paper.is_impossible(&number.id) && score::lookup_number(items, number).is_some()
    };
    let claims: Vec<_> = claims.iter().filter(|claim| !claim.impossible).collect();
    Possible {
        numbers: Score::of(paper.published(), items, can_be_met),
        holding: claims.iter().filter(|claim| claim.holds == Some(true)).count(),
        settled: claims.iter().filter(|claim| claim.holds.is_some()).count(),
    }
}

/// The second score, without the values that a paper itself contradicts: `Of the values that can be
/// met: 32 of 42 numbers, 31 of 41 claims (the paper itself contradicts 5 others).`; none if no
/// paper contradicts anything that was measured.
pub fn possible_in_words(cards: &[Scorecard]) -> Option<String> {
    let sum = |of: fn(&Scorecard) -> usize| cards.iter().map(of).sum::<usize>();
    let within = sum(|c| c.possible.numbers.within_tolerance);
    let numbers = sum(|c| c.possible.numbers.numbers);
    let holding = sum(|c| c.possible.holding);
    let settled = sum(|c| c.possible.settled);
    let others = sum(|c| c.measured.numbers) - numbers + sum(|c| c.settled) - settled;
    let contradict = if cards.len() == 1 {
        "the paper itself contradicts"
    } else {
        "the papers themselves contradict"
    };
    (others > 0).then(|| {
        format!(
            "Of the values that can be met: {within} of {numbers} numbers, {holding} of {settled} claims ({contradict} \
             {others} others)."
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::reproduce::{Plan, Repetitions, Selection, Variation, conclude};
    use losscause_study::Context;

    /// A paper of which every value was measured, `times` the published one.
    fn measured(paper: &str, times: f64) -> Reproduction {
        let selection = Selection::parse(&[paper]).expect("a known paper");
        let plan = Plan::new(
            &Context::default(),
            &selection,
            Repetitions::AsPublished,
            1,
            &Variation::default(),
        );
        let mut items = conclude(plan.expect("a plan").items(), 1).items;
        for item in &mut items {
            item.measured = Some(times * item.published.unwrap_or(1.0));
        }
        conclude(&items, 1)
    }

    #[test]
    fn the_second_score_leaves_out_what_the_paper_contradicts() {
        let all_met = &measured("barman2002", 1.0).scorecards()[0];
        assert_eq!((all_met.measured.within_tolerance, all_met.measured.numbers), (45, 45));
        // Goodput, throughput and compatibility of NewReno-LL(0, 1) in configuration 1.
        let possible = all_met.possible;
        assert_eq!((possible.numbers.within_tolerance, possible.numbers.numbers), (42, 42));
        assert_eq!(all_met.settled - possible.settled, 2, "two claims repeat those numbers");
        // None of the three is within the tolerance of twice its value; the second score is as bad.
        let none_met = &measured("barman2002", 2.0).scorecards()[0];
        assert_eq!(none_met.measured.within_tolerance, none_met.possible.numbers.within_tolerance);
        assert_eq!(none_met.possible.numbers.numbers, 42);
    }

    #[test]
    fn the_second_score_is_said_only_where_something_is_contradicted() {
        let said = measured("barman2002", 1.0).scorecards()[0].possible_in_words().unwrap();
        assert!(said.starts_with("Of the values that can be met: 42 of 42 numbers, "), "{said}");
        assert!(said.ends_with("(the paper itself contradicts 5 others)."), "{said}");
        assert_eq!(measured("koo2007", 1.0).scorecards()[0].possible_in_words(), None);
    }

    #[test]
    fn items_and_claims_that_cannot_be_met_are_marked_in_the_json() {
        let json = serde_json::to_value(measured("barman2002", 1.0)).unwrap();
        let marked = |of: &str| -> Vec<String> {
            let of = json[of].as_array().unwrap().iter();
            of.filter(|v| v.get("impossible").is_some())
                .map(|v| v["id"].as_str().unwrap().to_owned())
                .collect()
        };
        let worst = |metric: &str| format!("config1.NewReno-LL.worst.{metric}");
        let mut items = marked("items");
        items.sort();
        assert_eq!(items, ["compat", "fairness", "goodput", "throughput"].map(worst));
        assert_eq!(marked("claims"), ["LL-collapse-config1", "LL-compat-extremes"]);
    }
}

//! The page of a reproduction, from the answer to the details.

use std::collections::BTreeSet;

use minijinja::{Value, context};

use super::misses::{self, Miss};
use super::{state, tables};
use losscause_laboratory::papers::record::{ClaimOutcome, Item, Number, Paper, Summary};
use losscause_laboratory::papers::reproduce::{
    Calibrated, Reproduction, Scorecard, Sheet, answer_in_words, possible_in_words,
    preview_in_words,
};
use losscause_laboratory::papers::score::lookup_number;
use losscause_study::tools::figures::sentence;

/// What the template shows.
pub(super) fn page(reproduction: &Reproduction, sheets: &[Sheet]) -> Value {
    let cards = reproduction.scorecards();
    let mut shown = BTreeSet::new();
    let mut papers = Vec::new();
    let mut missed = false;
    for of_paper in sheets.chunk_by(|a, b| a.paper.key() == b.paper.key()) {
        let view = Measured::of(of_paper[0].paper, reproduction);
        missed |= !view.misses.is_empty();
        let tables: Vec<Value> =
            of_paper.iter().map(|sheet| tables::view(sheet, reproduction, &mut shown)).collect();
        papers.push(view.context(&cards, &tables));
    }
    let preview = cards.iter().any(Scorecard::is_preview);
    let compares = sheets.iter().any(|sheet| sheet.paper.is_published());
    let answer = reproduction.answer.clone().unwrap_or_else(|| match compares {
        true => answer_in_words(&cards),
        false => titles(sheets),
    });
    let calibrated = |found: &Calibrated| (format!("{}: {found}", found.paper), found.met);
    context! {
        title => if compares { "published and measured" } else { "measured on real stacks" },
        answer => sentence(&answer),
        compares,
        // The score of the values that can be met, if the papers contradict any other.
        possible => possible_in_words(&cards),
        explanation => preview_in_words(reproduction, sheets)
            .unwrap_or_else(|| explanation(&cards, preview)),
        medians => sheets.iter().any(|sheet| sheet.paper.published().summary == Summary::Median),
        preview,
        missed,
        papers,
        calibrated => reproduction.calibrated.iter().map(calibrated).collect::<Vec<_>>(),
        seed => reproduction.seed,
        version => reproduction.version,
    }
}

/// What was measured, where that gave no answer.
fn titles(sheets: &[Sheet]) -> String {
    sheets.iter().map(|sheet| sheet.spec.title.as_str()).collect::<Vec<_>>().join("; ")
}

/// How far the answer can be trusted.
fn explanation(cards: &[Scorecard], preview: bool) -> String {
    match cards.iter().map(|card| card.measured.numbers).sum::<usize>() {
        0 => String::new(),
        _ if preview => "Fewer runs were made than the papers made, so nothing is scored yet.".to_owned(),
        _ => {
            "Every number is the mean of at least as many runs as its paper made, with no setting that differs between \
              algorithms. A constant guess is the best single value per metric."
                .to_owned()
        }
    }
}

/// What was measured of a paper.
struct Measured<'a> {
    paper: &'a Paper,
    items: Vec<Item>,
    claims: Vec<&'a ClaimOutcome>,
    /// Beside the fixed list: settled, not counted.
    beside: Vec<&'a ClaimOutcome>,
    misses: Vec<Miss>,
}

impl<'a> Measured<'a> {
    fn of(paper: &'a Paper, reproduction: &'a Reproduction) -> Self {
        let items = reproduction.items.iter().filter(|item| item.paper == paper.key());
        let items: Vec<Item> = items.cloned().collect();
        let of_paper =
            |claims: &'a [ClaimOutcome]| claims.iter().filter(|claim| claim.paper == paper.key());
        let claims: Vec<&ClaimOutcome> = of_paper(&reproduction.claims).collect();
        let beside = of_paper(&reproduction.claims_beside).collect();
        let misses = misses::of(paper, &items, &claims);
        Self { paper, items, claims, beside, misses }
    }

    fn context(&self, cards: &[Scorecard], tables: &[Value]) -> Value {
        let Self { paper, claims, beside, misses, .. } = self;
        let published = paper.published();
        let card = cards.iter().find(|card| card.paper == paper.key());
        let numbers = published.number.iter().filter(|number| number.counts());
        let squares: Vec<Value> = numbers.filter_map(|number| self.square(number)).collect();
        let settled = || claims.iter().filter(|claim| claim.holds.is_some());
        let of = |claims: &[&ClaimOutcome], holds: Option<bool>| -> Vec<Value> {
            let wanted = claims.iter().filter(|claim| claim.holds == holds);
            wanted.map(|claim| self.claim(claim)).collect()
        };
        context! {
            key => paper.key(),
            name => name(paper),
            title => published.title,
            venue => published.venue,
            // Whether anything of it is scored.
            scored => !squares.is_empty() || settled().next().is_some(),
            numbers => card.map(Scorecard::numbers_in_words),
            claims_in_words => card.map_or_else(|| unscored(claims), Scorecard::claims_in_words),
            // The score of its values that can be met, if it contradicts any other.
            possible => card.and_then(Scorecard::possible_in_words),
            squares,
            discs => settled().map(|claim| self.claim(claim)).collect::<Vec<_>>(),
            claims => context! {
                failing => of(claims, Some(false)),
                holding => of(claims, Some(true)),
                open => of(claims, None),
                beside => [of(beside, Some(true)), of(beside, Some(false))].concat(),
                settled => settled().count(),
            },
            misses,
            tables,
        }
    }

    /// A number in the score box; none if it was not measured.
    fn square(&self, number: &Number) -> Option<Value> {
        let item = lookup_number(&self.items, number)?;
        let figures = format!("{} (published {})", item.measured_text(), item.published_text());
        let state = state::of(item);
        let tip = format!(
            "{} {}, {} {}: {figures}",
            state.mark, number.source, number.system, number.metric
        );
        let anchor = state::anchor(self.paper.key(), &item.id);
        Some(context! { id => number.id, anchor, state, tip })
    }

    /// A claim in the score box and in the list; it links to why it fails.
    fn claim(&self, claim: &ClaimOutcome) -> Value {
        let state = state::of_claim(claim);
        let anchor = state::anchor(self.paper.key(), &claim.id);
        let why = self.misses.iter().find(|miss| miss.explains(&anchor)).map(|miss| &miss.anchor);
        let tip = format!("{} {}", state.mark, claim.statement);
        let ClaimOutcome { id, statement, evidence, .. } = claim;
        context! { id, anchor, state, tip, statement, evidence, why }
    }
}

/// The claims of a record that publishes nothing; nothing if none is settled.
fn unscored(claims: &[&ClaimOutcome]) -> String {
    let settled = claims.iter().filter(|claim| claim.holds.is_some()).count();
    let holding = claims.iter().filter(|claim| claim.holds == Some(true)).count();
    match settled {
        0 => String::new(),
        _ => format!("{holding} of {settled} claims hold"),
    }
}

/// The family names of the authors and the year: "Cen, Cosman and Voelker 2003".
fn name(paper: &Paper) -> String {
    let published = paper.published();
    let family =
        |author: &String| author.split_whitespace().next_back().unwrap_or(author).to_owned();
    let families: Vec<String> = published.authors.iter().map(family).collect();
    let names = match families.split_last() {
        None => published.title.clone(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    };
    published.year.map_or(names.clone(), |year| format!("{names} {year}"))
}

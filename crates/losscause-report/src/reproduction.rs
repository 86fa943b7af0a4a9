//! The page of a reproduction, from the answer to the details.

use std::collections::BTreeSet;

use serde::Serialize;

use super::misses::{self, MissView};
use super::state::{self, State};
use super::tables::{self, TableView};
use losscause_laboratory::papers::record::{ClaimOutcome, Item, Paper, Summary};
use losscause_laboratory::papers::reproduce::{
    Calibrated, Reproduction, Scorecard, Sheet, answer_in_words, possible_in_words,
    preview_in_words,
};
use losscause_laboratory::papers::score::lookup_number;
use losscause_study::tools::figures::sentence;

#[derive(Serialize)]
pub(super) struct PageView {
    title: &'static str,
    answer: String,
    /// The score of the values that can be met, if the papers contradict any other.
    possible: Option<String>,
    explanation: String,
    /// Whether any paper publishes something that the values are compared with.
    compares: bool,
    preview: bool,
    /// Whether values are medians; else they are means.
    medians: bool,
    /// Whether any number or claim was missed.
    missed: bool,
    papers: Vec<PaperView>,
    calibrated: Vec<CalibratedView>,
    seed: u64,
    version: String,
}

#[derive(Serialize)]
struct PaperView {
    key: String,
    /// "Cen, Cosman and Voelker 2003".
    name: String,
    title: String,
    venue: String,
    /// Whether anything of it is scored.
    scored: bool,
    numbers: String,
    claims_in_words: String,
    /// The score of its values that can be met, if it contradicts any other.
    possible: Option<String>,
    squares: Vec<MarkView>,
    discs: Vec<MarkView>,
    misses: Vec<MissView>,
    tables: Vec<TableView>,
    claims: ClaimsView,
}

/// A number or a claim in the score box.
#[derive(Serialize)]
struct MarkView {
    id: String,
    anchor: String,
    class: &'static str,
    tip: String,
}

#[derive(Serialize)]
struct ClaimsView {
    failing: Vec<ClaimView>,
    holding: Vec<ClaimView>,
    open: Vec<ClaimView>,
    /// Beside the fixed list: settled, not counted.
    beside: Vec<ClaimView>,
    /// How many were settled.
    settled: usize,
}

#[derive(Serialize)]
struct ClaimView {
    id: String,
    anchor: String,
    statement: String,
    evidence: String,
    mark: &'static str,
    meaning: &'static str,
    class: &'static str,
    /// Where the explanation of its failing stands.
    why: Option<String>,
}

#[derive(Serialize)]
struct CalibratedView {
    text: String,
    mark: &'static str,
    class: &'static str,
}

/// The view of the whole page.
pub(super) fn page(reproduction: &Reproduction, sheets: &[Sheet]) -> PageView {
    let cards = reproduction.scorecards();
    let mut shown = BTreeSet::new();
    let mut papers: Vec<PaperView> = Vec::new();
    for of_paper in sheets.chunk_by(|a, b| a.paper.key() == b.paper.key()) {
        let paper = of_paper[0].paper;
        let card = cards.iter().find(|card| card.paper == paper.key());
        let tables =
            of_paper.iter().map(|sheet| tables::view(sheet, reproduction, &mut shown)).collect();
        papers.push(paper_view(paper, card, tables, reproduction));
    }
    let preview = cards.iter().any(Scorecard::is_preview);
    let compares = sheets.iter().any(|sheet| sheet.paper.is_published());
    PageView {
        title: if compares { "published and measured" } else { "measured on real stacks" },
        answer: sentence(&reproduction.answer.clone().unwrap_or_else(|| match compares {
            true => answer_in_words(&cards),
            false => titles(sheets),
        })),
        compares,
        possible: possible_in_words(&cards),
        explanation: preview_in_words(reproduction, sheets)
            .unwrap_or_else(|| explanation(&cards, preview)),
        medians: sheets.iter().any(|sheet| sheet.paper.published().summary == Summary::Median),
        preview,
        missed: papers.iter().any(|paper| !paper.misses.is_empty()),
        papers,
        calibrated: reproduction.calibrated.iter().map(calibrated).collect(),
        seed: reproduction.seed,
        version: reproduction.version.clone(),
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

fn paper_view(
    paper: &'static Paper,
    card: Option<&Scorecard>,
    tables: Vec<TableView>,
    reproduction: &Reproduction,
) -> PaperView {
    let published = paper.published();
    let items: Vec<Item> =
        reproduction.items.iter().filter(|item| item.paper == paper.key()).cloned().collect();
    let claims: Vec<&ClaimOutcome> =
        reproduction.claims.iter().filter(|claim| claim.paper == paper.key()).collect();
    let beside: Vec<&ClaimOutcome> =
        reproduction.claims_beside.iter().filter(|claim| claim.paper == paper.key()).collect();
    let squares: Vec<MarkView> = published
        .number
        .iter()
        .filter(|number| number.counts())
        .filter_map(|number| {
            let item = lookup_number(&items, number)?;
            let figures = format!("{} (published {})", item.measured_text(), item.published_text());
            let name = format!("{}, {} {}", number.source, number.system, number.metric);
            Some(mark(paper, &number.id, &item.id, state::of(item), &format!("{name}: {figures}")))
        })
        .collect();
    let disc = |claim: &&ClaimOutcome| {
        mark(paper, &claim.id, &claim.id, state::of_claim(claim), &claim.statement)
    };
    let missing = misses::of(paper, &items, &claims);
    let settled = claims.iter().filter(|claim| claim.holds.is_some()).count();
    let discs: Vec<MarkView> =
        claims.iter().filter(|claim| claim.holds.is_some()).map(disc).collect();
    PaperView {
        key: paper.key().to_owned(),
        name: name(paper),
        title: published.title.clone(),
        venue: published.venue.clone(),
        scored: !squares.is_empty() || settled > 0,
        numbers: card.map(Scorecard::numbers_in_words).unwrap_or_default(),
        claims_in_words: card.map_or_else(|| unscored_claims(&claims), Scorecard::claims_in_words),
        possible: card.and_then(Scorecard::possible_in_words),
        squares,
        discs,
        claims: ClaimsView {
            failing: views(paper, &claims, Some(false), &missing),
            holding: views(paper, &claims, Some(true), &missing),
            open: views(paper, &claims, None, &missing),
            beside: [Some(true), Some(false)]
                .into_iter()
                .flat_map(|holds| views(paper, &beside, holds, &missing))
                .collect(),
            settled,
        },
        misses: missing,
        tables,
    }
}

/// The claims of a record that publishes nothing; nothing if none is settled.
fn unscored_claims(claims: &[&ClaimOutcome]) -> String {
    let settled = claims.iter().filter(|claim| claim.holds.is_some()).count();
    let holding = claims.iter().filter(|claim| claim.holds == Some(true)).count();
    match settled {
        0 => String::new(),
        _ => format!("{holding} of {settled} claims hold"),
    }
}

fn mark(paper: &Paper, id: &str, target: &str, state: State, text: &str) -> MarkView {
    let tip = format!("{} {text}", state.mark);
    MarkView {
        id: id.to_owned(),
        anchor: state::anchor(paper.key(), target),
        class: state.name,
        tip,
    }
}

fn views(
    paper: &Paper,
    claims: &[&ClaimOutcome],
    holds: Option<bool>,
    misses: &[MissView],
) -> Vec<ClaimView> {
    let view = |claim: &&&ClaimOutcome| {
        let State { mark, meaning, class, .. } = state::of_claim(claim);
        let anchor = state::anchor(paper.key(), &claim.id);
        ClaimView {
            why: misses
                .iter()
                .find(|miss| miss.explains(&anchor))
                .map(|miss| miss.anchor().to_owned()),
            id: claim.id.clone(),
            anchor,
            statement: claim.statement.clone(),
            evidence: claim.evidence.clone(),
            mark,
            meaning,
            class,
        }
    };
    claims
        .iter()
        .filter(|claim| claim.holds == holds)
        .collect::<Vec<_>>()
        .iter()
        .map(view)
        .collect()
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

fn calibrated(found: &Calibrated) -> CalibratedView {
    let (mark, class) = if found.met { ("✓", "good") } else { ("✗", "bad") };
    CalibratedView { text: format!("{}: {found}", found.paper), mark, class }
}

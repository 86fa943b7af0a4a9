//! The outcome of a reproduction on one screen: the answer, a line per paper, the misses, what was left out.

use losscause_study::papers::record::{Item, Status};
use losscause_study::papers::reproduce::{Reproduction, Scorecard};

/// Most lines of the summary.
pub(crate) const MOST_LINES: usize = 40;

/// Longest line, characters; longer ones are cut.
const MOST_COLUMNS: usize = 110;

/// What was not measured.
pub(crate) struct LeftOut {
    /// Tables and figures that were not measured.
    pub(crate) items: usize,
    /// All tables and figures.
    pub(crate) of: usize,
    /// The cost of measuring all, as a multiple of what was made.
    pub(crate) times: f64,
}

/// The summary, without a line break at its end.
pub(crate) fn text(reproduction: &Reproduction, left_out: Option<&LeftOut>) -> String {
    let cards = reproduction.scorecards();
    let mut lines = vec![answer(&cards), String::new()];
    lines.extend(per_paper(&cards));
    let mut end = Vec::new();
    if let Some(LeftOut { items, of, times }) = left_out.filter(|left_out| left_out.items > 0) {
        end.push(format!(
            "Not measured: {items} of {of} tables and figures. `--all` measures them too, with {times:.0} times the work."
        ));
    }
    end.push("Tables: --verbose, or PAPER/ITEM (`losscause list papers` names them).".to_owned());
    // Two headings, two blank lines before them and one before the end.
    let room = MOST_LINES - lines.len() - end.len() - 5;
    let (numbers, claims) = (missed_numbers(reproduction), failed_claims(reproduction));
    let (for_numbers, for_claims) = shares(numbers.len(), claims.len(), room);
    let previews = cards.iter().any(Scorecard::is_preview);
    let outside = if previews { "Numbers outside the tolerance so far:" } else { "Missed numbers:" };
    lines.extend(section(outside, numbers, for_numbers));
    lines.extend(section("Claims that fail:", claims, for_claims));
    lines.push(String::new());
    lines.extend(end);
    lines.join("\n")
}

/// One sentence on all papers together.
pub(crate) fn answer(cards: &[Scorecard]) -> String {
    let sum = |of: fn(&Scorecard) -> usize| cards.iter().map(of).sum::<usize>();
    let (within, numbers) = (sum(|c| c.measured.within_tolerance), sum(|c| c.measured.numbers));
    let (floor, holding, settled) = (sum(|c| c.measured.floor), sum(|c| c.holding), sum(|c| c.settled));
    let claims = format!("{holding} of {settled} claims hold");
    if cards.iter().any(Scorecard::is_preview) {
        let after = "with fewer runs than the papers made";
        return format!("preview: {within} of {numbers} published numbers are within tolerance, {claims}, {after}.");
    }
    match numbers {
        0 => format!("Of the papers' claims that were tested, {claims}."),
        _ => format!(
            "{within} of {numbers} published numbers are within tolerance (a constant guess would get {floor}); {claims}."
        ),
    }
}

/// One line per paper, in columns.
pub(crate) fn per_paper(cards: &[Scorecard]) -> Vec<String> {
    let widest = |of: fn(&Scorecard) -> String| cards.iter().map(|c| of(c).chars().count()).max().unwrap_or(0);
    let name = |card: &Scorecard| card.paper.clone();
    let (names, numbers) = (widest(name), widest(Scorecard::numbers_in_words));
    let line = |card: &Scorecard| {
        format!("{:names$}  {:numbers$}  {}", card.paper, card.numbers_in_words(), card.claims_in_words())
    };
    cards.iter().map(line).collect()
}

/// Scored numbers outside their tolerance, in the order of the papers.
fn missed_numbers(reproduction: &Reproduction) -> Vec<String> {
    let line = |item: &Item| {
        let interval = item.ci95.map_or_else(String::new, |_| format!(" ± {}", item.ci95_text()));
        let unit = if item.unit == "1" { String::new() } else { format!(" {}", item.unit) };
        let (published, measured) = (item.published_text(), item.measured_text());
        format!("{} {}: measured {measured}{interval}, published {published}{unit}", item.paper, item.id)
    };
    let missed = |item: &&Item| match item.status {
        Status::Missed => true,
        Status::Preview => item.within == Some(false),
        Status::Reproduced | Status::NotScored | Status::NoPublishedValue => false,
    };
    reproduction.items.iter().filter(missed).map(line).collect()
}

fn failed_claims(reproduction: &Reproduction) -> Vec<String> {
    let failed = reproduction.claims.iter().filter(|claim| claim.holds == Some(false));
    failed.map(|claim| format!("{} {}: {}", claim.paper, claim.id, claim.statement)).collect()
}

/// How many lines of `room` each of two lists gets: half, and what the other leaves free.
fn shares(one: usize, other: usize, room: usize) -> (usize, usize) {
    let half = room / 2;
    let first = one.min(half.max(room - other.min(room)));
    (first, other.min(room - first))
}

/// A heading and at most `most` lines, the last of which counts the rest if there are more.
fn section(heading: &str, lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.is_empty() || most == 0 {
        return vec![];
    }
    let shown = if lines.len() > most { most - 1 } else { lines.len() };
    let rest = lines.len() - shown;
    let mut section = vec![String::new(), heading.to_owned()];
    section.extend(lines.into_iter().take(shown).map(|line| cut(&format!("  ✗ {line}"))));
    if rest > 0 {
        section.push(format!("  and {rest} more: --verbose"));
    }
    section
}

fn cut(line: &str) -> String {
    if line.chars().count() <= MOST_COLUMNS {
        return line.to_owned();
    }
    let kept: String = line.chars().take(MOST_COLUMNS - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use losscause_study::papers::reproduce::{Plan, Repetitions, Selection, Variation, conclude};

    use super::*;

    /// The papers, all values measured as `value` says for a published one.
    fn measured(runs: Repetitions, names: &[&str], value: impl Fn(f64) -> f64) -> Reproduction {
        let selection = Selection::parse(names).expect("known papers");
        let plan = Plan::new(&selection, runs, 1, &Variation::default()).expect("a plan");
        let settled = conclude(plan.items(), 1);
        let mut items = settled.items.clone();
        for item in &mut items {
            item.measured = Some(value(item.published.unwrap_or(1.0)));
        }
        conclude(&items, 1)
    }

    fn left_out() -> LeftOut {
        LeftOut { items: 60, of: 90, times: 4.2 }
    }

    #[test]
    fn however_much_is_missed_the_summary_has_at_most_forty_lines() {
        for wrong in [1.0, 1.5, 3.0] {
            for runs in [Repetitions::AsPublished, Repetitions::exactly(2).expect("two runs")] {
                let text = text(&measured(runs, &[], |value| wrong * value), Some(&left_out()));
                assert!(text.lines().count() <= MOST_LINES, "{} lines:\n{text}", text.lines().count());
                assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
            }
        }
    }

    #[test]
    fn the_answer_comes_first_then_a_line_per_paper_then_what_was_missed() {
        let text =
            text(&measured(Repetitions::AsPublished, &["cen2003/table2"], |value| value + 50.0), Some(&left_out()));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("0 of 22 published numbers are within tolerance (a constant guess would get "));
        assert!(lines[2].starts_with("cen2003  0 of 22 numbers within tolerance (a constant guess would get "));
        assert!(
            text.contains("\nMissed numbers:\n  ✗ cen2003 WLH.N1.TCP.thput: measured 105, published 55 percent\n"),
            "{text}"
        );
        assert!(text.contains(" more: --verbose\n"), "22 misses and some claims do not fit: {text}");
        assert!(
            text.contains(
                "Not measured: 60 of 90 tables and figures. `--all` measures them too, with 4 times the work."
            )
        );
    }

    #[test]
    fn too_few_runs_make_a_preview_and_never_a_score() {
        let two = Repetitions::exactly(2).expect("two runs");
        let text = text(&measured(two, &["cen2003"], |value| value), None);
        assert!(text.starts_with("preview: "), "{text}");
        assert!(text.contains("preview: 72 of 72 within tolerance after 2 of 10 runs"), "{text}");
        assert!(!text.contains("reproduced") && !text.contains(" %") && !text.contains("constant guess"), "{text}");
        assert!(!text.contains("Not measured"), "nothing was left out");
    }

    #[test]
    fn each_list_gets_half_of_the_lines_and_what_the_other_leaves() {
        assert_eq!(shares(3, 4, 20), (3, 4));
        assert_eq!(shares(30, 40, 20), (10, 10));
        assert_eq!(shares(30, 4, 20), (16, 4));
        assert_eq!(shares(2, 40, 20), (2, 18));
        assert_eq!(shares(0, 0, 20), (0, 0));
    }
}

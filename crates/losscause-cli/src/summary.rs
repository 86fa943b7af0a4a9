//! The outcome of a reproduction on one screen: the answer, a line per paper, the misses, what was
//! left out.

use indexmap::{IndexMap, IndexSet};
use losscause_laboratory::papers::record::{Item, Status};
use losscause_laboratory::papers::reproduce::{
    Reproduction, Scorecard, answer_in_words, possible_in_words,
};

/// Most lines of the summary.
pub(crate) const MOST_LINES: usize = 40;

/// Longest line of a list, characters.
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
    let mut text = vec![answer_in_words(&cards)];
    text.extend(possible_in_words(&cards));
    text.push(String::new());
    text.extend(per_paper(&cards));
    let mut end = Vec::new();
    if let Some(LeftOut { items, of, times }) = left_out.filter(|left_out| left_out.items > 0) {
        end.push(format!(
            "Not measured: {items} of {of} tables and figures. `--all` measures them too, with {times:.0} times the \
             work."
        ));
    }
    end.extend(beside(reproduction));
    end.push("Tables: --verbose, or PAPER/ITEM (`losscause list papers` names them).".to_owned());
    // Two headings, two blank lines before them and one before the end.
    let room = MOST_LINES - text.len() - end.len() - 5;
    let numbers = missed_numbers(reproduction);
    let claims = failed_claims(reproduction);
    let needed = |missed: &Missed| lines(missed.clone(), usize::MAX).len();
    let (for_numbers, for_claims) = shares(needed(&numbers), needed(&claims), room);
    let previews = cards.iter().any(Scorecard::is_preview);
    let outside = if previews { "outside the tolerance so far" } else { "missed" };
    let of_numbers = format!("Numbers {outside}, measured (published):");
    let of_claims = if previews { "Claims that fail so far:" } else { "Claims that fail:" };
    for (heading, names) in
        [(&*of_numbers, lines(numbers, for_numbers)), (of_claims, lines(claims, for_claims))]
    {
        if !names.is_empty() {
            text.extend([String::new(), heading.to_owned()]);
            text.extend(names);
        }
    }
    text.push(String::new());
    text.extend(end);
    text.join("\n")
}

/// The systems beside the papers', in one line; none if there are none.
fn beside(reproduction: &Reproduction) -> Option<String> {
    let systems = reproduction.beside.iter().map(|item| item.system.as_str());
    let systems: Vec<&str> = systems.collect::<IndexSet<_>>().into_iter().collect();
    let of = |values| {
        format!("Beside the papers' systems, not scored: {}; {values} values.", systems.join("; "))
    };
    (!systems.is_empty()).then(|| of(reproduction.beside.len()))
}

/// One line per paper, in columns.
pub(crate) fn per_paper(cards: &[Scorecard]) -> Vec<String> {
    let widest = |of: fn(&Scorecard) -> String| {
        cards.iter().map(|c| of(c).chars().count()).max().unwrap_or(0)
    };
    let name = |card: &Scorecard| card.paper.clone();
    let names = widest(name);
    let numbers = widest(Scorecard::numbers_in_words);
    let line = |card: &Scorecard| {
        format!(
            "{:names$}  {:numbers$}  {}",
            card.paper,
            card.numbers_in_words(),
            card.claims_in_words()
        )
    };
    cards.iter().map(line).collect()
}

/// What each paper misses, by name.
type Missed = Vec<(String, Vec<String>)>;

/// Scored numbers outside their tolerance: name, measured, published.
fn missed_numbers(reproduction: &Reproduction) -> Missed {
    let is_missed = |item: &&Item| match item.status {
        Status::Missed => true,
        Status::Preview => item.within == Some(false),
        Status::Reproduced | Status::NotScored | Status::NoPublishedValue => false,
    };
    let name =
        |item: &Item| format!("{} {} ({})", item.id, item.measured_text(), item.published_text());
    by_paper(
        reproduction.items.iter().filter(is_missed).map(|item| (item.paper.as_str(), name(item))),
    )
}

fn failed_claims(reproduction: &Reproduction) -> Missed {
    let failed = reproduction.claims.iter().filter(|claim| claim.holds == Some(false));
    by_paper(failed.map(|claim| (claim.paper.as_str(), claim.id.clone())))
}

/// Collects the names of each paper; papers are in the order of their first name.
fn by_paper<'a>(names: impl Iterator<Item = (&'a str, String)>) -> Missed {
    let mut papers: IndexMap<&str, Vec<String>> = IndexMap::new();
    names.for_each(|(paper, name)| papers.entry(paper).or_default().push(name));
    papers.into_iter().map(|(paper, names)| (paper.to_owned(), names)).collect()
}

/// How many lines of `room` each of two lists gets: half, and what the other leaves free.
fn shares(one: usize, other: usize, room: usize) -> (usize, usize) {
    let half = room / 2;
    let first = one.min(half.max(room - other.min(room)));
    (first, other.min(room - first))
}

/// The names in at most `most` lines. If they need more, the longest list is shortened until they
/// fit, and the last line counts what is missing.
fn lines(mut missed: Missed, most: usize) -> Vec<String> {
    let mut left_out = 0;
    loop {
        let blocks: Vec<Vec<String>> =
            missed.iter().map(|(paper, names)| block(paper, names)).collect();
        let needed = blocks.iter().map(Vec::len).sum::<usize>() + usize::from(left_out > 0);
        if needed <= most {
            let more = (left_out > 0).then(|| format!("  and {left_out} more: --verbose"));
            return blocks.into_iter().flatten().chain(more).collect();
        }
        let longest = (0..missed.len()).max_by_key(|&place| blocks[place].len());
        match longest.and_then(|place| missed[place].1.pop()) {
            Some(_) => left_out += 1,
            None => return vec![],
        }
    }
}

/// The names of one paper, separated by commas, on lines with the paper's name before the first.
fn block(paper: &str, names: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let comma = if place + 1 < names.len() { "," } else { "" };
        match lines.last_mut() {
            Some(line) if line.chars().count() + name.chars().count() + 2 <= MOST_COLUMNS => {
                *line += &format!(" {name}{comma}");
            }
            _ => {
                let head = if lines.is_empty() { paper } else { "" };
                lines.push(format!("  {head:NAMES$} {name}{comma}"));
            }
        }
    }
    lines
}

/// The width of the column of papers' names.
const NAMES: usize = 10;

#[cfg(test)]
mod tests {
    use losscause_laboratory::papers::reproduce::{
        Plan, Repetitions, Selection, Variation, conclude,
    };

    use losscause_study::Context;

    use super::*;

    /// The papers, all values measured as `value` says for a published one.
    fn measured(runs: Repetitions, names: &[&str], value: impl Fn(f64) -> f64) -> Reproduction {
        let selection = Selection::parse(names).expect("known papers");
        let plan = Plan::new(&Context::default(), &selection, runs, 1, &Variation::default())
            .expect("a plan");
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
                assert!(
                    text.lines().count() <= MOST_LINES,
                    "{} lines:\n{text}",
                    text.lines().count()
                );
                assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
            }
        }
    }

    #[test]
    fn the_answer_comes_before_the_papers_and_what_was_missed() {
        let text = text(
            &measured(Repetitions::AsPublished, &["cen2003/table2"], |value| value + 50.0),
            Some(&left_out()),
        );
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with(
            "0 of 22 published numbers are within tolerance (a constant guess would get "
        ));
        assert!(
            lines[2].starts_with(
                "cen2003  0 of 22 numbers within tolerance (a constant guess would get "
            )
        );
        let missed =
            "\nNumbers missed, measured (published):\n  cen2003    WLH.N1.TCP.thput 105 (55), ";
        assert!(text.contains(missed) && text.contains(" WLH.N1.ZigZag.M_w 116 (66)\n"), "{text}");
        assert!(text.contains("\nClaims that fail:\n  cen2003    WLH1-thput-values"), "{text}");
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
        assert!(
            !text.contains("reproduced")
                && !text.contains(" %")
                && !text.contains("constant guess"),
            "{text}"
        );
        assert!(!text.contains("Not measured"), "nothing was left out");
    }

    #[test]
    fn the_longest_list_is_shortened_first_and_counts_the_rest() {
        let missed = || -> Missed {
            let many = (0..30).map(|n| format!("a.rather.long.name.of.nr-{n:02}")).collect();
            vec![("one".to_owned(), many), ("other".to_owned(), vec!["short".to_owned()])]
        };
        let all = lines(missed(), 40);
        assert_eq!(all.len(), 10 + 1, "three names on a line: {all:#?}");
        let some = lines(missed(), 4);
        assert_eq!(some[2..], ["  other      short", "  and 24 more: --verbose"], "{some:#?}");
        assert_eq!(lines(missed(), 0), Vec::<String>::new());
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

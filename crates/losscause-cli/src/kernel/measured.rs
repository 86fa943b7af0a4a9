//! What a control did on which paths, in figures, for `kernel load`.
//!
//! The figures are read from two pages of the documentation.

use std::fmt::Write;

use losscause_linux::kernel::Algorithm;

const ABROAD_PAGE: &str = include_str!("../../docs/results/abroad.md");
const LIVE_PAGE: &str = include_str!("../../docs/results/live.md");

/// What one control did on paths of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    /// Goodput, Mb/s.
    mbps: f64,
    /// Packets that queues dropped, per 1000.
    drops: f64,
}

/// The kinds of paths of `results/abroad.md`: what an operator calls them, and the row of the page.
const KINDS: [(&str, &str); 6] = [
    ("radio, 0.3 to 8 % loss", "random loss"),
    ("satellite, 0.1 to 1 % loss", "satellite"),
    ("plain queue", "one flow, DropTail"),
    ("changing rate (LTE)", "LTE"),
    ("policer", "policer"),
    ("managed queue (CoDel)", "CoDel"),
];

/// What was measured on [`KINDS`]: the kernel's name of CUBIC with an algorithm, guard and brake, and
/// the page's name.
const ABROAD: [(&str, &str); 2] = [("lc_cubic_sift", "Sift"), ("lc_cubic_spike", "Spike")];

/// The link of the first table of `results/live.md` with random loss of 0, 1 and 2 %.
const LOSSES: [&str; 3] = ["plain queue", "radio, 1 % loss", "radio, 2 % loss"];

/// A paragraph on what the control did on which paths, beside the kernel's own.
pub(super) fn paragraph(algorithm: &Algorithm) -> String {
    let base = algorithm.base();
    let rows = rows(algorithm);
    let mut text = format!("What it did beside {base}, {}:", origin(algorithm));
    for (what, own, kernels) in &rows {
        let _ = write!(
            text,
            "\n  {what:28}{:5.2} Mb/s beside {:5.2}, {:4.1} drops in 1000 packets beside {:4.1}",
            own.mbps, kernels.mbps, own.drops, kernels.drops
        );
    }
    if !is_abroad(algorithm) {
        text += "\n  changing rate, policer, managed queue: not measured there";
    }
    let more_drops = rows.iter().filter(|(_, own, kernels)| own.drops > HARM * kernels.drops);
    let harmed: Vec<&str> = more_drops.map(|(what, ..)| *what).collect();
    text += &match harmed.as_slice() {
        [] => format!("\nOn none of them more than {HARM} times {base}'s drops."),
        harmed => format!("\nMore than {HARM} times {base}'s drops: {}.", harmed.join("; ")),
    };
    if let [Some(left), Some(of_cubic)] = [algorithm.name, "cubic"].map(left_to_cubic) {
        let _ = write!(
            text,
            "\nA stock CUBIC beside it on one queue of 10 Mb/s had {left:.0} % of what both carried, beside another CUBIC \
             {of_cubic:.0} % (results/live.md, two flows, three runs)."
        );
    }
    text
}

/// Where and when the figures were measured.
fn origin(algorithm: &Algorithm) -> &'static str {
    if is_abroad(algorithm) {
        "in simulated networks, 20 of each kind, with guard and brake (docs/abroad.md, November 2026)"
    } else {
        "on an emulated link of 10 Mb/s and 40 ms, with guard and brake (results/live.md, Linux 6.18)"
    }
}

fn is_abroad(algorithm: &Algorithm) -> bool {
    ABROAD.iter().any(|(name, _)| *name == algorithm.name)
}

/// So many times the drops of the kernel's own control are harm to others in the queue.
const HARM: f64 = 1.2;

/// The kinds of paths with what the control did, and what the kernel's own did.
fn rows(algorithm: &Algorithm) -> Vec<(&'static str, Figure, Figure)> {
    if let Some((_, system)) = ABROAD.iter().find(|(name, _)| *name == algorithm.name) {
        let row = |(what, kind)| abroad(system, kind).map(|[own, stock]| (what, own, stock));
        return KINDS.into_iter().filter_map(row).collect();
    }
    let base = algorithm.base().to_string();
    let both = on_link(algorithm.name).zip(on_link(&base));
    let rows = both.into_iter().flat_map(|(own, base)| own.into_iter().zip(base));
    LOSSES.into_iter().zip(rows).map(|(what, (own, base))| (what, own, base)).collect()
}

/// What a system and stock CUBIC did on paths of a kind, by the page's table of that system.
fn abroad(system: &str, kind: &str) -> Option<[Figure; 2]> {
    let (_, loops) = ABROAD_PAGE.split_once("## In the loop")?;
    let is_head = |line: &str| line.starts_with(&format!("  {system}  ")) && line.contains('‰');
    let row = format!("  {kind}  ");
    let mut rows = loops.lines().skip_while(|line| !is_head(line));
    let cells = rows.find_map(|line| line.strip_prefix(&row))?.split_whitespace();
    let numbers: Vec<f64> = cells.map_while(|cell| cell.parse().ok()).collect();
    let [drops, stock_drops, mbps, stock_mbps, ..] = numbers[..] else { return None };
    Some([Figure { mbps, drops }, Figure { mbps: stock_mbps, drops: stock_drops }])
}

/// What a control did on [`LOSSES`], by the page's first table. The first two cells of each share of
/// loss are goodput, with the simulator's in parentheses, and drops.
fn on_link(control: &str) -> Option<Vec<Figure>> {
    let (heads, row) = live("| 0 %: goodput |", control)?;
    let goodput = (0..heads.len()).filter(|&place| heads[place].ends_with("goodput"));
    let figure =
        |place| Some(Figure { mbps: number(&row, place)?, drops: number(&row, place + 1)? });
    goodput.map(figure).collect()
}

/// The percentage of both flows' goodput that a stock CUBIC has beside a control, by the page's table of
/// two flows.
fn left_to_cubic(control: &str) -> Option<f64> {
    let (heads, row) = live("| beside reno |", control)?;
    let place = heads.iter().position(|head| head == "beside cubic")?;
    Some(100.0 - number(&row, place)?)
}

/// The cells of the first line of the page that holds `head`, and of a control's row below it.
fn live(head: &str, control: &str) -> Option<(Vec<String>, Vec<String>)> {
    let cells = |line: &str| -> Vec<String> {
        line.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`']).to_owned()).collect()
    };
    let mut lines = LIVE_PAGE.lines().skip_while(|line| !line.contains(head));
    let heads = cells(lines.next()?);
    Some((heads, lines.map(cells).find(|row| row[0] == control)?))
}

fn number(row: &[String], place: usize) -> Option<f64> {
    row.get(place)?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use losscause_linux::kernel::algorithm::ALGORITHMS;

    use super::*;

    #[test]
    fn every_control_has_a_paragraph_that_says_where_it_harms() {
        for algorithm in ALGORITHMS {
            let text = paragraph(algorithm);
            assert!(text.lines().count() >= 5, "{text}");
            let kinds = if is_abroad(algorithm) { KINDS.len() } else { LOSSES.len() };
            assert_eq!(rows(algorithm).len(), kinds, "{}", algorithm.name);
            assert!(text.contains("plain queue") && text.contains("radio"), "{text}");
            assert!(text.contains("policer") && text.contains("managed queue"), "{text}");
        }
        let line = |name, from_last: usize| {
            let text = paragraph(Algorithm::find(name).unwrap());
            text.lines().rev().nth(from_last).unwrap().to_owned()
        };
        let last = |name| line(name, 1);
        // 31.1 of CoDel are 4.2 times 7.4; 62.1 of the policer 1.40 times 44.4.
        assert_eq!(
            last("lc_cubic_spike"),
            "More than 1.2 times cubic's drops: radio, 0.3 to 8 % loss; satellite, 0.1 to 1 % loss; policer; managed queue (CoDel)."
        );
        assert_eq!(
            last("lc_cubic_sift"),
            "More than 1.2 times cubic's drops: satellite, 0.1 to 1 % loss."
        );
        assert_eq!(last("lc_zbs"), "On none of them more than 1.2 times reno's drops.");
        // It takes 49.5 % beside cubic, cubic 43.3 %.
        assert_eq!(
            line("lc_cubic_sift", 0),
            "A stock CUBIC beside it on one queue of 10 Mb/s had 50 % of what both carried, beside another CUBIC 57 % \
             (results/live.md, two flows, three runs)."
        );
        for algorithm in ALGORITHMS {
            assert!(line(algorithm.name, 0).starts_with("A stock CUBIC"), "{}", algorithm.name);
        }
    }
}

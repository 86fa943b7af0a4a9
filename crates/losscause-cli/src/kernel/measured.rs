//! What a control did on which paths, in figures, for `kernel load`.
//!
//! The figures are those of two pages of the documentation. A test compares them with the pages.

use std::fmt::Write;

use losscause_linux::kernel::Algorithm;

/// What one control did on paths of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    /// Goodput, Mb/s.
    mbps: f64,
    /// Packets that queues dropped, per 1000.
    drops: f64,
}

const fn figure(mbps: f64, drops: f64) -> Figure {
    Figure { mbps, drops }
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

/// Stock CUBIC on [`KINDS`], in the simulator.
const STOCK: [Figure; 6] = [
    figure(2.47, 2.0),
    figure(1.28, 1.1),
    figure(14.25, 1.5),
    figure(11.71, 5.7),
    figure(5.84, 44.4),
    figure(12.61, 7.4),
];

/// CUBIC with an algorithm, guard and brake on [`KINDS`]: the kernel's name of it, the page's name,
/// the figures.
const ABROAD: [(&str, &str, [Figure; 6]); 2] = [
    (
        "lc_cubic_sift",
        "Sift",
        [
            figure(6.58, 2.3),
            figure(7.82, 2.9),
            figure(14.25, 1.5),
            figure(11.95, 5.7),
            figure(5.85, 45.7),
            figure(12.60, 7.6),
        ],
    ),
    (
        "lc_cubic_spike",
        "Spike",
        [
            figure(7.16, 2.5),
            figure(7.85, 2.0),
            figure(14.25, 1.5),
            figure(11.95, 5.8),
            figure(5.85, 62.1),
            figure(12.98, 31.1),
        ],
    ),
];

/// The link of `results/kernel.md` with random loss of 0, 1 and 2 %.
const LOSSES: [&str; 3] = ["plain queue", "radio, 1 % loss", "radio, 2 % loss"];

/// The kernel's own controls and the others on [`LOSSES`].
const LINK: [(&str, [Figure; 3]); 10] = [
    ("reno", [figure(9.58, 6.2), figure(3.16, 0.0), figure(2.25, 0.0)]),
    ("cubic", [figure(9.61, 3.1), figure(3.01, 0.0), figure(2.03, 0.0)]),
    ("lc_westwood_vt", [figure(9.57, 6.1), figure(9.12, 0.0), figure(8.83, 0.3)]),
    ("lc_spike", [figure(9.61, 6.6), figure(8.79, 3.0), figure(8.40, 3.1)]),
    ("lc_cubic_zbs", [figure(9.62, 0.7), figure(8.45, 0.0), figure(8.34, 0.0)]),
    ("lc_zbs", [figure(9.60, 6.6), figure(8.09, 0.0), figure(7.59, 0.0)]),
    ("lc_newreno_ff", [figure(9.60, 14.8), figure(8.11, 4.7), figure(7.46, 3.5)]),
    ("lc_veno", [figure(9.59, 5.8), figure(6.09, 4.4), figure(4.51, 0.0)]),
    ("lc_zigzag", [figure(9.61, 6.5), figure(3.29, 0.0), figure(2.37, 0.0)]),
    ("lc_sift", [figure(9.57, 6.8), figure(7.98, 4.4), figure(5.39, 3.2)]),
];

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
    text
}

/// Where and when the figures were measured.
fn origin(algorithm: &Algorithm) -> &'static str {
    if is_abroad(algorithm) {
        "in simulated networks, 20 of each kind, with guard and brake (docs/abroad.md, November 2026)"
    } else if algorithm.name.ends_with("_sift") {
        "on an emulated link of 10 Mb/s and 40 ms, an earlier Sift without guard and brake (results/kernel.md, Linux 6.18)"
    } else {
        "on an emulated link of 10 Mb/s and 40 ms, without guard and brake (results/kernel.md, Linux 6.18)"
    }
}

fn is_abroad(algorithm: &Algorithm) -> bool {
    ABROAD.iter().any(|(name, ..)| *name == algorithm.name)
}

/// So many times the drops of the kernel's own control are harm to others in the queue.
const HARM: f64 = 1.2;

/// The kinds of paths with what the control did, and what the kernel's own did.
fn rows(algorithm: &Algorithm) -> Vec<(&'static str, Figure, Figure)> {
    if let Some((_, _, own)) = ABROAD.iter().find(|(name, ..)| *name == algorithm.name) {
        let pairs = KINDS.iter().zip(own).zip(STOCK);
        return pairs.map(|((&(what, _), &own), stock)| (what, own, stock)).collect();
    }
    let on_link = |wanted: &str| LINK.iter().find(|(name, _)| *name == wanted);
    let base = algorithm.base().to_string();
    match (on_link(algorithm.name), on_link(&base)) {
        (Some((_, own)), Some((_, base))) => LOSSES
            .iter()
            .zip(own.iter().zip(base))
            .map(|(&what, (&own, &base))| (what, own, base))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use losscause_linux::kernel::algorithm::ALGORITHMS;

    use super::*;

    const ABROAD_PAGE: &str = include_str!("../../docs/results/abroad.md");
    const KERNEL_PAGE: &str = include_str!("../../docs/results/kernel.md");

    /// The own and the stock figure of a kind in the page's table of that system.
    fn in_the_loop(system: &str, kind: &str) -> [Figure; 2] {
        let (_, loops) = ABROAD_PAGE.split_once("## In the loop").unwrap();
        let head = format!("  {system}  ");
        let table =
            loops.lines().skip_while(|line| !(line.starts_with(&head) && line.contains("drops ‰")));
        let row = format!("  {kind}  ");
        let line = table.into_iter().find(|line| line.starts_with(&row)).unwrap();
        let numbers: Vec<f64> =
            line[row.len()..].split_whitespace().map_while(|cell| cell.parse().ok()).collect();
        let [drops, stock_drops, mbps, stock_mbps, _] = numbers.as_slice() else {
            panic!("{line}: {numbers:?}")
        };
        [figure(*mbps, *drops), figure(*stock_mbps, *stock_drops)]
    }

    #[test]
    fn the_pages_have_the_same_figures() {
        for (_, system, figures) in ABROAD {
            for (((_, kind), own), stock) in KINDS.into_iter().zip(figures).zip(STOCK) {
                assert_eq!(in_the_loop(system, kind), [own, stock], "{system}, {kind}");
            }
        }
        for (name, figures) in LINK {
            let row = KERNEL_PAGE.lines().filter_map(|line| {
                let mut cells = line.strip_prefix("| ")?.split(" | ");
                (cells.next()?.trim_matches('`') == name).then_some(())?;
                cells
                    .map(|cell| cell.trim_end_matches(" |").parse().ok())
                    .collect::<Option<Vec<f64>>>()
            });
            let expected: Vec<f64> = figures.iter().flat_map(|f| [f.mbps, f.drops]).collect();
            assert_eq!(row.into_iter().next().as_ref(), Some(&expected), "{name}");
        }
    }

    #[test]
    fn every_control_has_a_paragraph_that_says_where_it_harms() {
        for algorithm in ALGORITHMS {
            let text = paragraph(algorithm);
            assert!(text.lines().count() >= 5, "{text}");
            assert!(text.contains("plain queue") && text.contains("radio"), "{text}");
            assert!(text.contains("policer") && text.contains("managed queue"), "{text}");
        }
        let last = |name| {
            let text = paragraph(Algorithm::find(name).unwrap());
            text.lines().last().unwrap().to_owned()
        };
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
    }
}

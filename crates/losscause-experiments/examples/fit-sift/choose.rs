//! Which readings are weighed together, three at a time.

use losscause::lda::sift::Clues;
use losscause::lda::sift::card::TOGETHER;
use losscause_study::Jobs;

use crate::fit::{Fit, Three};
use crate::readings::Reading;

/// Chooses the threes of a card, one after the other: each is the one that explains most of what
/// the readings and the threes before it leave, at both vantage points together. The last ones are
/// those with [`Clues::EARLIER`], as in [`TOGETHER`].
pub(crate) fn threes(readings: &[&Vec<Reading>; 2]) -> Vec<Three> {
    let all: Vec<Three> = (0..Clues::COUNT)
        .flat_map(|a| {
            (a + 1..Clues::COUNT).flat_map(move |b| (b + 1..Clues::COUNT).map(move |c| [a, b, c]))
        })
        .collect();
    let mut chosen = Vec::new();
    while chosen.len() < TOGETHER.len() {
        let left = Jobs::default().map(
            readings,
            |readings| Fit::new(readings, &chosen, None).left_to(&all),
            |_| (),
        );
        let of_both = |three: usize| -> f64 { left.iter().map(|left| left[three]).sum() };
        let best = (0..all.len())
            .filter(|three| !chosen.contains(&all[*three]))
            .max_by(|a, b| of_both(*a).total_cmp(&of_both(*b)));
        let best = best.expect("there are more threes than tables");
        println!("{:2}. {} ({:.1})", chosen.len() + 1, in_words(all[best]), of_both(best));
        chosen.push(all[best]);
    }
    chosen.sort_by_key(|three| three.contains(&Clues::EARLIER));
    chosen
}

fn in_words(three: Three) -> String {
    three.map(|clue| Clues::NAMES[clue].split(':').next().unwrap_or_default()).join(", ")
}

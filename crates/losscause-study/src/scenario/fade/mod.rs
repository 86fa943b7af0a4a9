//! Patterns of packet errors of a fading channel. [`parse`] reads the channel's parameters,
//! [`make`] simulates it on several threads, and a [`Pattern`] is written to and read from a file.

use crate::parallel::Jobs;

mod channel;
mod pattern;
mod report;
mod statistics;

pub use channel::{Channel, Source, load, parse};
pub use pattern::Pattern;
pub(super) use pattern::{LARGEST_PATTERN, PATTERN};
pub use report::{PatternReport, PublishedPattern};
pub use statistics::Statistics;

/// Makes the patterns of `sources`, in their order. `done(n)` is called when n trials are done, of
/// all [`trials`]. The patterns do not depend on the number of threads.
pub fn make(sources: &[Source], jobs: Jobs, done: impl FnMut(usize)) -> Vec<Pattern> {
    let numbers: Vec<(&Source, u32)> = sources
        .iter()
        .flat_map(|source| (0..source.channel.trials).map(move |number| (source, number)))
        .collect();
    let work = |&(source, number): &(&Source, u32)| {
        source.uplink.trial(source.channel.seed.into(), number)
    };
    let mut trials = jobs.map(&numbers, work, done).into_iter();
    let pattern = |source: &Source| Pattern {
        channel: source.channel.clone(),
        trials: trials.by_ref().take(source.channel.trials as usize).collect(),
    };
    sources.iter().map(pattern).collect()
}

/// Trials of all patterns together.
pub fn trials(sources: &[Source]) -> usize {
    sources.iter().map(|source| source.channel.trials as usize).sum()
}

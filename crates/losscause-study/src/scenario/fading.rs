//! The channel of the section `[fading]`: a pattern made by `losscause fade`, or a simpler process
//! with the pattern's loss rate.

use std::path::PathBuf;
use std::sync::Arc;

use losscause_sim::{ChannelSpec, TraceStart};

use super::fade::{self, Pattern};
use super::format::{Fading, FadingProcess, FadingRepeats};
use super::reader::{Reader, Text};
use crate::error::InputError;

const PATTERN: Text = Text { expected: fade::PATTERN, largest: fade::LARGEST_PATTERN };

/// The channel of every link of kind `fading`.
pub(super) fn channel(fading: Option<&Fading>, reader: &Reader) -> Result<ChannelSpec, InputError> {
    let Some(Fading { pattern: name, process, repeats }) = fading else {
        return Err(reader.error(
            "fading",
            "is missing, expected a section [fading] for the links of that kind",
        ));
    };
    // A name without the ending is a pattern of the source of files (`Embedded`), not relative to
    // the scenario.
    let path =
        if name.ends_with(".txt") { reader.directory.join(name) } else { PathBuf::from(name) };
    let pattern = reader.patterns.get(&path, || {
        let (text, file) = reader.text("fading.pattern", &path, PATTERN)?;
        Pattern::parse(&text, &file)
    })?;
    let statistics = &pattern.statistics;
    let loss = statistics.loss;
    let start = match repeats {
        FadingRepeats::Pattern => TraceStart::Drawn,
        FadingRepeats::Trial => TraceStart::DrawnPart(pattern.packets_per_trial),
    };
    Ok(match (process, statistics.mean_burst_packets) {
        (FadingProcess::Pattern, _) => {
            ChannelSpec::Trace { lost: Arc::clone(&pattern.lost), start }
        }
        (FadingProcess::Bernoulli, _) | (FadingProcess::Markov, None) => {
            ChannelSpec::Bernoulli { loss }
        }
        (FadingProcess::Markov, Some(_)) if loss >= 1.0 => ChannelSpec::Bernoulli { loss },
        (FadingProcess::Markov, Some(mean)) => ChannelSpec::GilbertElliott {
            loss,
            // Between two bursts there is at least one good packet. Trials can end within a burst,
            // so the pattern's own mean may be smaller.
            mean_burst_packets: mean.max(loss / (1.0 - loss)),
        },
    })
}

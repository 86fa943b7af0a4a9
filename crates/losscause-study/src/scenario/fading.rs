//! The channel that a scenario's `[fading]` section describes: a pattern made by `losscause fade`, or a simpler process
//! matched to it.

use std::path::Path;

use losscause_sim::{ChannelSpec, TraceStart};

use super::format::{Fading, FadingProcess, FadingRepeats};
use super::reader::Reader;
use crate::InputError;
use crate::papers::record::{self, KnownPattern};
use crate::scenario::fade::Pattern;

/// The channel of every link of kind `fading`; `directory` is where pattern files are.
pub(super) fn channel(fading: Option<&Fading>, reader: &Reader, directory: &Path) -> Result<ChannelSpec, InputError> {
    let Some(Fading { pattern: name, process, repeats }) = fading else {
        return Err(reader.error("fading", "is missing, expected a section [fading] for the links of that kind"));
    };
    let of_file: KnownPattern;
    let pattern = if name.ends_with(".txt") {
        of_file = KnownPattern::from(&Pattern::load(&directory.join(name))?);
        &of_file
    } else {
        record::pattern(name).map_err(|error| reader.error("fading.pattern", error.to_string()))?
    };
    let loss = pattern.statistics.loss;
    let start = match repeats {
        FadingRepeats::Pattern => TraceStart::Drawn,
        FadingRepeats::Trial => TraceStart::DrawnPart(pattern.trial_packets),
    };
    Ok(match (process, pattern.statistics.mean_burst_packets) {
        (FadingProcess::Pattern, _) => ChannelSpec::Trace { lost: std::sync::Arc::clone(&pattern.lost), start },
        (FadingProcess::Bernoulli, _) | (FadingProcess::Markov, None) => ChannelSpec::Bernoulli { loss },
        (FadingProcess::Markov, Some(_)) if loss >= 1.0 => ChannelSpec::Bernoulli { loss },
        (FadingProcess::Markov, Some(mean)) => ChannelSpec::GilbertElliott {
            loss,
            // Bursts end with their trial, of which there may be more than good packets between them.
            mean_burst_packets: mean.max(loss / (1.0 - loss)),
        },
    })
}

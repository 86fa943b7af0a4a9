//! What is drawn: `paths.toml`, read into types.

use indexmap::IndexMap;
use losscause_sim::rng::Stream;
use losscause_study::tools::toml_file;
use serde::Deserialize;
use std::hash::Hash;
use std::sync::LazyLock;

use crate::paths::path::{
    Acknowledged, Acks, Beside, Cross, Delay, Host, Loss, Place, Queue, Rate, Reverse,
};

/// The ranges that the benchmark draws from.
pub static RANGES: LazyLock<Ranges> = LazyLock::new(|| {
    toml_file::from_text(include_str!("../../paths.toml"), "paths.toml")
        .expect("a test reads paths.toml")
});

/// A positive number between two bounds; equal ratios are equally likely.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The smallest value.
    pub from: f64,
    /// The largest value.
    pub to: f64,
}

/// Names with their relative frequencies.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent, bound = "T: Deserialize<'de> + Eq + Hash")]
pub struct Choice<T>(pub IndexMap<T, f64>);

impl Range {
    /// A draw, rounded to three digits.
    pub fn draw(self, stream: &mut Stream) -> f64 {
        let drawn = self.from * libm::pow(self.to / self.from, stream.uniform());
        rounded(drawn).clamp(self.from, self.to)
    }

    /// The nearest value within the bounds.
    pub fn clamp(self, value: f64) -> f64 {
        value.clamp(self.from, self.to)
    }
}

impl<T: Copy> Choice<T> {
    /// A draw.
    ///
    /// # Panics
    /// There is no name.
    pub fn draw(&self, stream: &mut Stream) -> T {
        let mut left = stream.uniform() * self.0.values().sum::<f64>();
        for (&name, weight) in &self.0 {
            left -= weight;
            if left < 0.0 {
                return name;
            }
        }
        *self.0.keys().last().expect("a choice has at least one name")
    }
}

/// Rounded to three significant digits.
pub(crate) fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    // Powers of ten are exact, their inverses are not.
    let below = libm::floor(libm::log10(value.abs())) - 2.0;
    let power = libm::pow(10.0, below.abs());
    if below > 0.0 { libm::rint(value / power) * power } else { libm::rint(value * power) / power }
}

/// Everything that is drawn. The file says what each entry means.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The file has the meaning of every key.
pub struct Ranges {
    pub rate_bps: Range,
    pub rtt_ms: Range,
    pub spare_rate: Range,
    pub duration: Duration,
    pub flows: Choice<Count>,
    pub place: Choice<Place>,
    pub queue: Choice<Queue>,
    pub queue_sizes: QueueSizes,
    pub loss: Choice<Loss>,
    pub losses: Losses,
    pub cross: Choice<Cross>,
    pub crossing: Crossing,
    pub delay: Choice<Delay>,
    pub varying_delay: VaryingDelay,
    pub rate: Choice<Rate>,
    pub varying_rate: VaryingRate,
    pub acks: Choice<Acks>,
    pub acknowledged: Choice<Acknowledged>,
    pub host: Choice<Host>,
    pub batches: Batches,
    pub reverse: Choice<Reverse>,
    pub way_back: WayBack,
    pub beside: Choice<Beside>,
}

/// A number of flows, written as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Count(pub u32);

impl TryFrom<String> for Count {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// Declares sections of the file.
macro_rules! sections {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty,)+ })+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug, Deserialize)]
            #[serde(deny_unknown_fields)]
            #[allow(missing_docs)] // As above.
            pub struct $name { $(pub $field: $type,)+ }
        )+
    };
}

sections! {
    /// How long a run lasts.
    Duration { packets: f64, round_trips: f64, seconds: Range, packet_bytes: f64, }
    /// How large queues are.
    QueueSizes { deep_bdp: f64, shallow_bdp: f64, bucket_bdp: Range, least_packets: f64, }
    /// Wireless losses.
    Losses { rate: Range, burst_packets: Range, }
    /// Cross traffic.
    Crossing { share: f64, sources: u32, period_s: Range, }
    /// Delays that vary.
    VaryingDelay { share: Range, every_s: Range, steps_s: Range, period_s: Range, }
    /// Rates that vary.
    VaryingRate { factor: Range, steps_s: Range, cellular_ms: f64, cellular_step: f64, outage: f64, }
    /// Batches.
    Batches { acks_ms: Range, delayed_ms: Range, host_ms: Range, }
    /// The way back.
    WayBack { rate_share: Range, }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_draws_equal_ratios_equally_often() {
        let (range, mut stream) = (Range { from: 1.0, to: 100.0 }, Stream::new(1, "range"));
        let below_ten = (0..10_000).filter(|_| range.draw(&mut stream) < 10.0).count();
        // Five standard errors of 50 each.
        assert!((4_750..5_250).contains(&below_ten), "{below_ten}");
    }

    #[test]
    fn a_choice_draws_names_by_their_frequency() {
        let choice = Choice(IndexMap::from([("never", 0.0), ("one", 1.0), ("three", 3.0)]));
        let mut stream = Stream::new(1, "choice");
        let drawn: Vec<&str> = (0..10_000).map(|_| choice.draw(&mut stream)).collect();
        let count = |name| drawn.iter().filter(|&&other| other == name).count();
        // Five standard errors of 43 each.
        assert_eq!(count("never"), 0);
        assert!((2_285..2_715).contains(&count("one")), "{}", count("one"));
    }

    #[test]
    fn numbers_are_rounded_to_three_digits() {
        assert_eq!(
            [123_456.0, 0.012_345, 9.996, 0.0].map(rounded),
            [123_000.0, 0.012_3, 10.0, 0.0]
        );
        assert_eq!(rounded(31_999_999.9).to_string(), "32000000");
    }
}

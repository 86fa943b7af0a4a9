//! What the delays of a flow look like: a sample of all of them.
//!
//! Every n-th delay is kept; whenever the sample is full, every second one of it goes and n
//! doubles. So a flow of any length costs the same memory, and its sample covers all of its time
//! evenly.

use losscause::Span;

/// A sample of a flow's delays, or of other values over its time: so many at most.
///
/// ```
/// use losscause_capture::judge::Sample;
///
/// let mut sample = Sample::<u32, 4>::default();
/// (0..8).for_each(|value| sample.push(value));
/// assert_eq!(sample.kept(), [0, 2, 4, 6]);
/// ```
#[derive(Clone, Debug)]
pub struct Sample<T = Span, const MOST: usize = 128> {
    kept: Vec<T>,
    every: u32,
    /// Values until the next one is kept.
    wait: u32,
}

impl<T, const MOST: usize> Default for Sample<T, MOST> {
    fn default() -> Self {
        Self { kept: Vec::new(), every: 1, wait: 0 }
    }
}

impl<T, const MOST: usize> Sample<T, MOST> {
    /// Takes in a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.push_with(|| value);
    }

    /// The same of a value that is computed only if it is kept.
    #[inline]
    pub fn push_with(&mut self, value: impl FnOnce() -> T) {
        match self.wait.checked_sub(1) {
            Some(wait) => self.wait = wait,
            None => self.keep(value()),
        }
    }

    #[cold]
    fn keep(&mut self, value: T) {
        if self.kept.len() == MOST {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
        }
        self.kept.push(value);
        self.wait = self.every - 1;
    }

    /// What it holds, in order of time.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }
}

impl Sample {
    /// How many delays it holds.
    pub(crate) fn count(&self) -> usize {
        self.kept.len()
    }

    /// The share of the sample that `is` holds for.
    pub(crate) fn share(&self, is: impl Fn(Span) -> bool) -> f64 {
        let count = self.kept.iter().filter(|delay| is(**delay)).count();
        count as f64 / self.kept.len().max(1) as f64
    }

    /// The delay below which this share of the sample lies; none if nothing was measured.
    pub(crate) fn quantile(&self, share: f64) -> Option<Span> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let place = (share * sorted.len().saturating_sub(1) as f64).round();
        sorted.get(place as usize).copied()
    }
}

/// What a flow's delays look like as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DelayShape {
    /// No delays were measured.
    #[default]
    Unknown,
    /// The delays hardly vary: no queue shows.
    Steady,
    /// The delays vary as a queue's do.
    Varying,
}

impl DelayShape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Unknown, Self::Steady, Self::Varying];

    /// The shape's name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Steady => "steady",
            Self::Varying => "varying",
        }
    }
}

/// If three quarters of the delays lie this close above the least, no queue stands on the path for
/// long. The greatest quarter does not count: delayed acknowledgements are among it, and the start
/// of a transfer.
const STEADY: Span = Span::from_millis(10);

impl From<&Sample> for DelayShape {
    fn from(sample: &Sample) -> Self {
        match (sample.quantile(0.05), sample.quantile(0.75)) {
            (Some(low), Some(high)) if high - low < STEADY => Self::Steady,
            (Some(_), Some(_)) => Self::Varying,
            _ => Self::Unknown,
        }
    }
}

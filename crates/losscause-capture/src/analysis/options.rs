//! What is analysed, and how.

use losscause::Time;
use losscause::registry::Registry;

use crate::judge::Chosen;
use crate::observe::Observer;
use crate::selection::Selection;

/// What is analysed, and how.
///
/// ```
/// use std::fs::File;
/// use std::sync::mpsc;
///
/// use losscause::registry::Registry;
/// use losscause_capture::judge::{Chosen, UnknownAlgorithm};
/// use losscause_capture::{Observation, Observer, Options, Selection, Vantage, analyze};
///
/// let registry = Registry::built_in();
/// let unknown = Chosen::named(&["zbss".to_owned()], &registry).unwrap_err();
/// assert!(
///     matches!(unknown, UnknownAlgorithm { name, known } if name == "zbss" && known.contains(&"zbs".to_owned()))
/// );
///
/// // What one algorithm sees of one port's flows, while the capture is read.
/// let (sender, seen) = mpsc::channel();
/// let options = Options {
///     chosen: Chosen::named(&["zbs".to_owned()], &registry)?,
///     flows: Selection { ports: vec![5_001], ..Selection::default() },
///     observer: Some(Observer::new(move |observation: &Observation| {
///         if observation.end == Vantage::Receiver {
///             sender.send(observation.missing).expect("read below");
///         }
///     })),
///     ..Options::all()
/// };
/// analyze(File::open("tests/captures/receiver.pcap.gz")?, "receiver.pcap.gz", &options)?;
/// let missing: u64 = seen.try_iter().flatten().sum();
/// assert!(missing > 40, "{missing} packets");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The algorithms that are asked.
    pub chosen: Chosen,
    /// Whether the skew between the clocks of sender and capture stays in the trip times.
    pub keep_skew: bool,
    /// Only packets from this time on, seconds after the capture's first packet.
    pub from_s: Option<f64>,
    /// Only packets before this time, seconds after the capture's first packet.
    pub to_s: Option<f64>,
    /// Only these flows.
    pub flows: Selection,
    /// Whether the flows with most losses are followed over time, for drawings.
    pub over_time: bool,
    /// Whether it is noted what packets are that were sent or captured again, for
    /// [`annotate`](crate::annotate).
    pub notes: bool,
    /// Who gets every observation of the algorithms while the capture is read.
    pub observer: Option<Observer>,
}

impl Options {
    /// Everything, by all algorithms of this project.
    pub fn all() -> Self {
        let chosen = Chosen::all_of(&Registry::built_in());
        Self {
            chosen,
            keep_skew: false,
            from_s: None,
            to_s: None,
            flows: Selection::default(),
            over_time: false,
            notes: false,
            observer: None,
        }
    }

    /// Whether they take in `time` of a capture that begins at `begun`.
    #[inline]
    pub(crate) fn select(&self, begun: Time, time: Time) -> bool {
        if self.from_s.is_none() && self.to_s.is_none() {
            return true;
        }
        let second = (time - begun).as_secs_f64();
        self.from_s.is_none_or(|from| second >= from) && self.to_s.is_none_or(|to| second < to)
    }
}

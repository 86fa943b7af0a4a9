//! An analysed capture.

use std::io::{self, Read, Write};

use losscause_capture::{Analysis, Captures, Options};
use losscause_study::{Origin, origin};

use crate::View;

/// A capture that has flows.
#[derive(Clone, Debug)]
pub struct Capture(Analysis);

impl Capture {
    /// Analyses a capture as `losscause analyze FILE` does.
    ///
    /// # Errors
    /// If it is no capture that can be read, or has no flow: the program's sentence.
    pub fn read(source: impl Read, file: &str) -> Result<Self, String> {
        let mut options = Options::all();
        options.over_time = true;
        let analysis = losscause_capture::analyze(source, file, &options)
            .map_err(|error| format!("{file}: {error}"))?;
        if analysis.has_no_flow() {
            return Err(format!("{file}: {}", analysis.no_flow(false)));
        }
        Ok(Self(analysis))
    }

    /// What a page shows and draws.
    pub fn view(&self) -> View {
        View::of(&self.0)
    }

    /// A loss in words, by its flow's place in the view's `drawn` and its own place among the
    /// flow's losses: what happened, and why the algorithm to follow said what it said. None if
    /// there is no such loss.
    pub fn told(&self, flow: usize, loss: usize) -> Option<[String; 2]> {
        let flow = self.0.flows.get(flow)?;
        flow.losses.get(loss).map(|loss| flow.told(loss))
    }

    /// Writes what `losscause analyze FILE --format json` writes, to the byte.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        origin::state_commit(option_env!("LOSSCAUSE_COMMIT").unwrap_or_default());
        let origin = Origin::of(["analyze".to_owned(), self.0.file.clone()], None);
        Captures { origin, captures: std::slice::from_ref(&self.0) }.write_json(&mut out)
    }
}

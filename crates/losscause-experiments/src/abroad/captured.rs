//! The flows of a network in a capture at their senders, as `losscause analyze` reads it: what
//! every algorithm says of the losses that the capture shows, and what the diagnosis says of each
//! flow.
//!
//! A loss counts by the packets that it really is. One that only a timer showed is left out, as an
//! algorithm is not asked at a timeout; so is one that was none.

use std::io::Read;

use losscause::Verdict;
use losscause::registry::{Info, Registry};
use losscause_capture::judge::Chosen;
use losscause_capture::{CaptureError, Flow, Options, analyze};
use losscause_study::capture_files::LostPackets;
use losscause_study::{Experiment, RunError, Stop};

use crate::abroad::diagnosed::{Diagnosed, queue_class};
use crate::abroad::network::Drawn;
use crate::abroad::verdicts::OfFlow;
use crate::captures::stack::simulate;
use crate::drawn::End;
use crate::drawn::jury::Jury;
use crate::drawn::score::Tally;

/// The algorithms that judge captures at a sender.
pub struct Judges {
    /// One per algorithm, in the registry's order.
    pub(crate) infos: Vec<&'static Info>,
    /// Their names in an analysis.
    keys: Vec<String>,
    options: Options,
}

impl Judges {
    /// The algorithms of a registry that run at a sender, except those that need the truth.
    pub fn of(registry: &Registry) -> Self {
        let infos = Jury::of(registry, End::Sender).infos;
        let names: Vec<String> = infos.iter().map(|info| info.name.to_owned()).collect();
        let chosen = Chosen::named(&names, registry).expect("none of them needs the truth");
        let keys = chosen.keys().collect();
        Self { infos, keys, options: Options { chosen, ..Options::all() } }
    }

    /// Judges the flows of a capture of this network. `lost` has the lost data packets of each flow
    /// that lost some.
    ///
    /// # Errors
    /// It is no capture.
    pub fn judge(
        &self,
        drawn: &Drawn,
        experiment: &Experiment,
        capture: impl Read,
        mut lost: Vec<LostPackets>,
    ) -> Result<Vec<OfFlow>, CaptureError> {
        let queue = queue_class(experiment);
        let analysis = analyze(capture, &drawn.to_string(), &self.options)?;
        let mut flows: Vec<&Flow> = analysis.flows.iter().collect();
        flows.sort_by(|one, other| one.src.cmp(&other.src));
        let judged = flows.into_iter().enumerate().map(|(number, flow)| {
            let own = lost.iter_mut().find(|lost| lost.source() == flow.src);
            let mut tallies = vec![Tally::default(); self.keys.len()];
            let diagnosis = flow.diagnosis.as_ref().map(|found| &found.diagnosis);
            let mut diagnosed = Diagnosed::of(diagnosis, &[], queue);
            if let Some(own) = own {
                self.count(flow, own, &mut tallies);
                diagnosed = Diagnosed::of(diagnosis, own.packets(), queue);
            }
            OfFlow { diagnosis: Some(diagnosed), ..OfFlow::of(drawn, number, &tallies) }
        });
        Ok(judged.collect())
    }

    /// Counts what each algorithm says of every loss.
    fn count(&self, flow: &Flow, lost: &mut LostPackets, tallies: &mut [Tally]) {
        for loss in &flow.losses {
            // What a timer shows is taken too, so that no later loss is.
            let taken = lost.take(loss, flow.protocol);
            if loss.is_by_timer() {
                continue;
            }
            for (tally, key) in tallies.iter_mut().zip(&self.keys) {
                let called_wireless = loss.verdicts.of(key) == Some(Verdict::Wireless);
                for &place in &taken {
                    tally.count(lost.packets()[place].cause, called_wireless);
                }
            }
        }
    }

    /// Runs a network and judges the flows of the capture at its senders.
    pub(crate) fn simulate(&self, drawn: &Drawn, stop: &Stop) -> Result<Vec<OfFlow>, RunError> {
        let experiment = drawn.experiment()?;
        let made = simulate(&experiment, drawn.run_seed(), stop)?;
        let judged = self.judge(drawn, &experiment, &made.sender[..], made.lost);
        Ok(judged.expect("what was written as a capture is one"))
    }
}

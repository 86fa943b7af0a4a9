//! Every loss of a run with its true cause and what an algorithm beside the flow saw at it: the
//! data to fit one to.

use losscause::{Algorithm, Loss};
use losscause_sim::truth::Cause;
use losscause_study::run::run_recorded_stopping_at;
use losscause_study::{Experiment, RunError, Stop};

use crate::drawn::End;
use crate::drawn::panel::{Moment, Panel};

/// A judged loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedLoss<T> {
    /// The flow's number among the test flows.
    pub flow: usize,
    /// The true cause.
    pub cause: Cause,
    /// What was read of the algorithm.
    pub seen: T,
}

/// Runs an experiment. `make` builds an algorithm for each measured flow; it sees every packet at a
/// receiver, every acknowledgement at a sender. At every lost packet, at a sender at every loss that
/// opens a recovery, in the order in which they are judged, `read` gets the algorithm and the loss.
/// At a sender its cause is congestion if any packet of the event was lost to it. A loss whose cause
/// is not known (a packet that was only reordered) is left out.
///
/// # Errors
/// The run needs more memory than it may.
pub fn judged<A: Algorithm, T>(
    experiment: &Experiment,
    seed: u64,
    end: End,
    make: impl Fn(usize) -> A,
    read: impl Fn(&A, &Loss) -> T,
) -> Result<Vec<JudgedLoss<T>>, RunError> {
    let mut losses = Vec::new();
    let take = |flow: usize, moment: Moment<'_>, algorithms: &[A]| {
        if let (Moment::Lost(loss, Some(cause)), [algorithm]) = (moment, algorithms) {
            losses.push(JudgedLoss {
                flow,
                cause,
                seen: read(algorithm, &loss.within(algorithm.scope())),
            });
        }
    };
    let mut panel = Panel::new(&experiment.network, end, |flow| vec![make(flow)], take);
    run_recorded_stopping_at(experiment, seed, &mut panel, &Stop::new())?;
    drop(panel);
    Ok(losses)
}

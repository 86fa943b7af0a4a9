//! Every loss of a path with its true cause and what an observer saw at it: the data to fit an algorithm to.

use std::sync::{Arc, Mutex, PoisonError};

use losscause_sim::truth::Cause;
use losscause::{Loss, Algorithm, Loss, Algorithm};
use losscause_study::parallel::Stop;
use losscause_study::run::run_stopping_at;
use losscause_study::{Experiment, RunError};

use crate::panel::{AtReceiver, AtSender, Moment, as_told, watch_receivers, watch_senders};
use crate::path::{Path, Vantage};

/// A judged loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedLoss<T> {
    /// The flow's number among the test flows.
    pub flow: usize,
    /// The true cause.
    pub cause: Cause,
    /// What was read of the observer.
    pub seen: T,
}

/// Runs the path with TFRC behind its pilot. `make` builds an observer for each flow; it sees every packet. At every
/// lost packet, in the order in which they are judged, `read` gets the observer and the loss. A loss whose cause is not
/// known (a packet that was only reordered) is left out.
///
/// # Errors
/// None for a path that was drawn.
pub fn judged_at_receiver<O: Algorithm + Clone + Send + Sync + 'static, T: Send + 'static>(
    path: &Path,
    make: impl Fn(usize) -> O,
    read: impl Fn(&O, &Loss) -> T + Send + 'static,
) -> Result<Vec<JudgedLoss<T>>, RunError> {
    let mut experiment = path.experiment(Vantage::Receiver)?;
    let (losses, log) = log();
    let take: AtReceiver<O> = Arc::new(Mutex::new(move |flow: usize, loss: &Loss, observers: &[O]| {
        if let (Some(truth), [observer]) = (loss.truth, observers) {
            log(JudgedLoss { flow, cause: truth.cause, seen: read(observer, loss) });
        }
    }));
    watch_receivers(&mut experiment.network, |flow| vec![make(flow)], &take);
    finish(path, &experiment)?;
    Ok(taken(&losses))
}

/// Runs the path with TCP behind its pilot. `make` builds an observer for each flow; it sees every acknowledgement. At
/// every loss that opens a recovery, `read` gets the observer and the loss, whose cause is congestion if any packet of
/// the event was lost to it. Otherwise as [`judged_at_receiver`].
///
/// # Errors
/// None for a path that was drawn.
pub fn judged_at_sender<O: Algorithm + Clone + Send + Sync + 'static, T: Send + 'static>(
    path: &Path,
    make: impl Fn(usize) -> O,
    read: impl Fn(&O, &Loss) -> T + Send + 'static,
) -> Result<Vec<JudgedLoss<T>>, RunError> {
    let mut experiment = path.experiment(Vantage::Sender)?;
    let (losses, log) = log();
    let take: AtSender<O> = Arc::new(Mutex::new(move |flow: usize, moment: Moment<'_>, observers: &[O]| {
        if let (Moment::Opens(loss), [observer]) = (moment, observers)
            && let Some(truth) = loss.truth
        {
            log(JudgedLoss { flow, cause: truth.cause, seen: read(observer, &as_told(loss, observer)) });
        }
    }));
    watch_senders(&mut experiment.network, |flow| vec![make(flow)], &take);
    finish(path, &experiment)?;
    Ok(taken(&losses))
}

type Log<T> = Arc<Mutex<Vec<JudgedLoss<T>>>>;

/// A list, and what adds to it.
fn log<T: Send + 'static>() -> (Log<T>, impl Fn(JudgedLoss<T>) + Send + 'static) {
    let losses = Log::<T>::default();
    let into = Arc::clone(&losses);
    (losses, move |loss| into.lock().unwrap_or_else(PoisonError::into_inner).push(loss))
}

fn taken<T>(losses: &Log<T>) -> Vec<JudgedLoss<T>> {
    std::mem::take(&mut *losses.lock().unwrap_or_else(PoisonError::into_inner))
}

fn finish(path: &Path, experiment: &Experiment) -> Result<(), RunError> {
    run_stopping_at(experiment, path.run_seed(), &Stop::new()).map(drop)
}

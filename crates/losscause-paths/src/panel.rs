//! Observers behind a transport: they see every packet or acknowledgement and judge every loss, and steer nothing.
//!
//! The pilot is the algorithm that steers the transport. [`watch_receivers`] and [`watch_senders`] put observers behind
//! the pilot of every test flow. The transport gets the pilot's verdicts alone, so it sends the same packets with any
//! observers and with none.
//!
//! At a sender, a transport asks about the loss that opens a recovery. What follows in the same recovery is told as
//! well ([`Moment::Follows`]), because some algorithms judge every loss, and so is its end ([`Moment::Ends`]), because
//! some revise their verdict then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use losscause::ack::{Numbers, Recovery, Needs};
use losscause::Needs;
use losscause::{Observation, AnyAlgorithm, AnyAlgorithm, Observation, Loss, Judgement, Algorithm, Loss, Algorithm, Signal};
use losscause_sim::{Network, TcpLda, Traffic};

/// A moment of a loss event at a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment<'a> {
    /// A loss opens a recovery, and with it an event. Its truth is that of the event.
    Opens(&'a Loss),
    /// More packets are lost in the recovery.
    Follows(&'a Loss),
    /// The recovery ended, with the verdict that each observer gave then, if any.
    Ends(&'a [Option<Judgement>]),
}

/// What is called for every judged loss of a receiver: the flow's number, the loss, the observers.
pub type AtReceiver<O> = Arc<Mutex<dyn FnMut(usize, &Loss, &[O]) + Send>>;

/// What is called for every moment of a sender's loss events: the flow's number, the moment, the observers.
pub type AtSender<O> = Arc<Mutex<dyn FnMut(usize, Moment<'_>, &[O]) + Send>>;

/// Puts observers behind the algorithm of every TFRC flow of `network` that is measured. `make` gets the flow's number,
/// counted among these. `take` is called for every loss, in the order in which they are judged.
pub fn watch_receivers<O: Algorithm + Clone + Send + Sync + 'static>(
    network: &mut Network,
    make: impl Fn(usize) -> Vec<O>,
    take: &AtReceiver<O>,
) {
    let measured = network.flows.iter_mut().filter(|flow| flow.measured);
    let pilots = measured.filter_map(|flow| match &mut flow.traffic {
        Traffic::Tfrc { lda, .. } => Some(lda),
        _ => None,
    });
    for (flow, lda) in pilots.enumerate() {
        let pilot = lda.clone();
        *lda = AnyAlgorithm::boxed(Receiver { pilot, observers: make(flow), flow, take: Arc::clone(take) });
    }
}

/// Puts observers behind the algorithm of every TCP sender of `network` that is measured and has one; as
/// [`watch_receivers`]. The pilot must not judge every loss of a recovery itself.
pub fn watch_senders<O: Algorithm + Clone + Send + Sync + 'static>(
    network: &mut Network,
    make: impl Fn(usize) -> Vec<O>,
    take: &AtSender<O>,
) {
    let measured = network.flows.iter_mut().filter(|flow| flow.measured);
    let pilots = measured.filter_map(|flow| match &mut flow.traffic {
        Traffic::Tcp { lda: TcpLda::Sender(lda), .. } => Some(lda),
        _ => None,
    });
    for (flow, lda) in pilots.enumerate() {
        let (pilot, observers, take) = (lda.clone(), make(flow), Arc::clone(take));
        debug_assert!(!pilot.judges_every_loss());
        *lda = AnyAlgorithm::boxed(Sender { pilot, observers, flow, take, recovering: Arc::default() });
    }
}

struct Receiver<O> {
    pilot: AnyAlgorithm,
    observers: Vec<O>,
    flow: usize,
    take: AtReceiver<O>,
}

impl<O: Clone> Clone for Receiver<O> {
    fn clone(&self) -> Self {
        let (pilot, observers, take) = (self.pilot.clone(), self.observers.clone(), Arc::clone(&self.take));
        Self { pilot, observers, flow: self.flow, take }
    }
}

impl<O: Algorithm> Algorithm for Receiver<O> {
    fn name(&self) -> &'static str {
        self.pilot.name()
    }

    fn needs(&self) -> Needs {
        self.pilot.needs().with_truth()
    }

    fn observe(&mut self, arrival: &Observation) {
        self.pilot.on_arrival(arrival);
        self.observers.iter_mut().for_each(|observer| observer.on_arrival(arrival));
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let mut take = self.take.lock().unwrap_or_else(PoisonError::into_inner);
        (*take)(self.flow, loss, &self.observers);
        self.pilot.judge(loss)
    }
}

struct Sender<O> {
    pilot: AnyAlgorithm,
    observers: Vec<O>,
    flow: usize,
    take: AtSender<O>,
    /// Whether an event is open. A verdict is asked for behind a shared reference, hence atomic.
    recovering: Arc<AtomicBool>,
}

impl<O> Sender<O> {
    fn tell(&self, moment: Moment<'_>) {
        let mut take = self.take.lock().unwrap_or_else(PoisonError::into_inner);
        (*take)(self.flow, moment, &self.observers);
    }

    fn set_recovering(&self, recovering: bool) {
        self.recovering.store(recovering, Ordering::Relaxed);
    }
}

impl<O: Clone> Clone for Sender<O> {
    fn clone(&self) -> Self {
        let recovering = Arc::new(AtomicBool::new(self.recovering.load(Ordering::Relaxed)));
        let (pilot, observers, take) = (self.pilot.clone(), self.observers.clone(), Arc::clone(&self.take));
        Self { pilot, observers, flow: self.flow, take, recovering }
    }
}

impl<O: Algorithm> Algorithm for Sender<O> {
    fn name(&self) -> &'static str {
        self.pilot.name()
    }

    fn needs(&self) -> Needs {
        self.pilot.needs().with_truth()
    }

    fn observe(&mut self, sample: &Observation) {
        self.pilot.on_ack(sample);
        self.observers.iter_mut().for_each(|observer| observer.on_ack(sample));
    }

    fn on_loss(&mut self, loss: &Loss) {
        let follows = self.recovering.load(Ordering::Relaxed);
        if !follows || self.pilot.observes_every_loss() {
            self.pilot.on_loss(&as_told(loss, &self.pilot));
        }
        for observer in &mut self.observers {
            if !follows || observer.observes_every_loss() {
                observer.on_loss(&as_told(loss, observer));
            }
        }
        if loss.signal == Signal::Timeout {
            self.set_recovering(false);
        } else if follows && loss.signal == Signal::Gap {
            self.tell(Moment::Follows(loss));
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        if loss.signal == Signal::Gap {
            self.set_recovering(true);
            self.tell(Moment::Opens(loss));
        }
        self.pilot.judge(&as_told(loss, &self.pilot))
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        self.set_recovering(false);
        let revised: Vec<_> = self.observers.iter_mut().map(|observer| observer.on_recovered(recovery)).collect();
        self.tell(Moment::Ends(&revised));
        self.pilot.on_recovered(recovery)
    }

    fn scope(&self) -> losscause::Scope {
        losscause::Scope::EVERY_LOSS
    }

    fn judges_timeouts(&self) -> bool {
        self.pilot.judges_timeouts()
    }
}

/// The loss as a transport declares it to `lda`: only an algorithm that observes every loss is told the numbers of all
/// lost packets; the others are asked about the first.
pub fn as_told(loss: &Loss, lda: &impl Algorithm) -> Loss {
    let mut told = *loss;
    if !lda.observes_every_loss() {
        told.numbers = loss.numbers.map(|numbers| Numbers::one(numbers.first));
    }
    told
}

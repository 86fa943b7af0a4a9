//! A panel of algorithms beside the test flows of a run: they see every packet or acknowledgement,
//! judge every loss, and steer nothing. The transport follows the algorithm of its own alone, so it
//! sends the same packets with any panel and with none.
//!
//! At a sender, a transport asks about the loss that opens a recovery. What follows in the same
//! recovery is told as well ([`Moment::Follows`]), because some algorithms judge every loss, and so
//! is its end ([`Moment::Ends`]), because some revise their verdict then.

use losscause::{Algorithm, End, Judgement, Loss, Observation, Recovery, Signal};
use losscause_sim::truth::Cause;
use losscause_sim::{Detail, Event, FlowId, Network, Recorder, Seen};

/// A moment at which a panel is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment<'a> {
    /// A packet was lost, at a receiver; a loss opened a recovery, at a sender. With the true
    /// cause, that of the whole event at a sender; none if nothing was really lost.
    Lost(&'a Loss, Option<Cause>),
    /// More packets are lost in the recovery.
    Follows(&'a Loss),
    /// The recovery ended, with the verdict that each algorithm gave then, if any.
    Ends(&'a [Option<Judgement>]),
}

/// The algorithms beside each test flow, and what is called at every moment: the flow's number, the
/// moment, the algorithms.
pub struct Panel<A, T> {
    end: End,
    /// The number of each flow among the test flows.
    numbers: Vec<Option<usize>>,
    flows: Vec<Beside<A>>,
    take: T,
}

/// The algorithms beside one flow.
struct Beside<A> {
    algorithms: Vec<A>,
    /// Whether a recovery is under way.
    is_recovering: bool,
}

impl<A: Algorithm, T: FnMut(usize, Moment<'_>, &[A])> Panel<A, T> {
    /// A panel at one end of every flow of `network` that is measured. `make` gets the flow's
    /// number, counted among these.
    pub fn new(network: &Network, end: End, make: impl Fn(usize) -> Vec<A>, take: T) -> Self {
        let mut count = 0..;
        let number = |measured: bool| if measured { count.next() } else { None };
        let numbers: Vec<Option<usize>> =
            network.flows.iter().map(|flow| flow.measured).map(number).collect();
        let beside = |flow: &usize| Beside { algorithms: make(*flow), is_recovering: false };
        Self { end, flows: numbers.iter().flatten().map(beside).collect(), numbers, take }
    }
}

impl<A: Algorithm, T: FnMut(usize, Moment<'_>, &[A])> Recorder for Panel<A, T> {
    fn detail(&self) -> Detail {
        Detail::Nothing
    }

    fn record(&mut self, _: &Event) {}

    fn looks(&self) -> bool {
        true
    }

    fn see(&mut self, flow: FlowId, end: End, seen: Seen<'_>) {
        let Some(number) =
            self.numbers.get(flow.0 as usize).copied().flatten().filter(|_| end == self.end)
        else {
            return;
        };
        let beside = &mut self.flows[number];
        match seen {
            Seen::Observed(observation) => beside.observe(observation),
            Seen::Declared(loss) => {
                if beside.on_loss(loss) {
                    (self.take)(number, Moment::Follows(loss), &beside.algorithms);
                }
            }
            Seen::Judged(loss, cause) if !loss.is_further => {
                beside.is_recovering = end == End::Sender;
                (self.take)(number, Moment::Lost(loss, cause), &beside.algorithms);
            }
            Seen::Judged(..) => {}
            Seen::TakenBack(numbers) => {
                beside.algorithms.iter_mut().for_each(|algorithm| algorithm.take_back(numbers));
            }
            Seen::Recovered(recovery) => {
                let revised = beside.on_recovered(recovery);
                (self.take)(number, Moment::Ends(&revised), &beside.algorithms);
            }
        }
    }
}

impl<A: Algorithm> Beside<A> {
    fn observe(&mut self, observation: &Observation) {
        self.algorithms.iter_mut().for_each(|algorithm| algorithm.observe(observation));
    }

    /// Tells the algorithms of a loss. Returns whether it follows another one in a recovery.
    fn on_loss(&mut self, loss: &Loss) -> bool {
        let follows = self.is_recovering;
        for algorithm in &mut self.algorithms {
            let scope = algorithm.scope();
            if !follows || scope.observes_every_loss {
                algorithm.on_loss(&loss.within(scope));
            }
        }
        self.is_recovering &= loss.signal != Signal::Timeout;
        follows && loss.signal == Signal::Gap
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Vec<Option<Judgement>> {
        self.is_recovering = false;
        self.algorithms.iter_mut().map(|algorithm| algorithm.on_recovered(recovery)).collect()
    }
}

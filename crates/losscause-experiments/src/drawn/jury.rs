//! The algorithms of a registry beside the measured flows of a run: what each says of every loss.

use losscause::registry::{Info, Registry};
use losscause::{Algorithm, AnyAlgorithm, AtSender, LdaConfig, Loss, Verdict};
use losscause_sim::truth::Cause;
use losscause_study::run::run_recorded_stopping_at;
use losscause_study::{Experiment, RunError, Stop};

use crate::drawn::End;
use crate::drawn::panel::{Moment, Panel};
use crate::drawn::score::Halves;

/// The algorithms that run at one end, except those that need the truth.
pub(crate) struct Jury {
    pub(crate) end: End,
    /// One per algorithm, in the registry's order.
    pub(crate) infos: Vec<&'static Info>,
    built: Vec<AtSender<AnyAlgorithm>>,
}

impl Jury {
    pub(crate) fn of(registry: &Registry, end: End) -> Self {
        let built = registry.iter().filter_map(|entry: &LdaConfig| {
            let algorithm =
                entry.build(end).ok().filter(|algorithm| algorithm.needs().other.is_none())?;
            Some((entry.info(), AtSender::new(algorithm)))
        });
        let (infos, built) = built.unzip();
        Self { end, infos, built }
    }

    /// Makes the run. Returns every algorithm's verdicts on the losses of each measured flow; of all
    /// flows at once unless they are `apart`.
    pub(crate) fn count(
        &self,
        experiment: &Experiment,
        seed: u64,
        apart: bool,
        stop: &Stop,
    ) -> Result<Vec<Vec<Halves>>, RunError> {
        let flows = experiment.network.flows.iter().filter(|flow| flow.measured).count();
        let blank = vec![Halves::default(); self.infos.len()];
        let mut counted = vec![blank; if apart { flows } else { 1 }];
        self.judge(experiment, seed, stop, |flow, cause, called_wireless| {
            let own = &mut counted[if apart { flow } else { 0 }];
            for (halves, &called_wireless) in own.iter_mut().zip(called_wireless) {
                halves.count(cause, called_wireless);
            }
        })?;
        Ok(counted)
    }

    /// The names of the algorithms.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.infos.iter().map(|info| info.name).collect()
    }

    /// Makes the run. `take` is called for every judged loss, at a sender for every loss event,
    /// with the flow's number among the measured ones, the true cause, and whether each algorithm
    /// calls it wireless.
    fn judge(
        &self,
        experiment: &Experiment,
        seed: u64,
        stop: &Stop,
        mut take: impl FnMut(usize, Cause, &[bool]),
    ) -> Result<(), RunError> {
        let flows = experiment.network.flows.iter().filter(|flow| flow.measured).count();
        let mut events = Events::new(flows);
        let on_moment =
            |flow: usize, moment: Moment<'_>, algorithms: &[AtSender<AnyAlgorithm>]| match self.end
            {
                End::Receiver => {
                    let Moment::Lost(loss, Some(cause)) = moment else { return };
                    let verdicts = algorithms.iter().map(|algorithm| algorithm.judge(loss).verdict);
                    take(flow, cause, &verdicts.map(Verdict::is_wireless).collect::<Vec<_>>());
                }
                End::Sender => events.take(flow, moment, algorithms, &mut take),
            };
        let mut panel =
            Panel::new(&experiment.network, self.end, |_| self.built.clone(), on_moment);
        run_recorded_stopping_at(experiment, seed, &mut panel, stop)?;
        drop(panel);
        (0..flows).for_each(|flow| events.close(flow, &mut take));
        Ok(())
    }
}

/// The open loss events of a run's senders.
///
/// An algorithm has called an event wireless if a transport that follows it would have kept its
/// window in the end: the loss that opens the event was called wireless, and so was, by an
/// algorithm that judges every loss, each further loss among the packets that were in flight; or
/// the verdict was revised to wireless at the recovery's end.
struct Events {
    open: Vec<Option<Event>>,
}

struct Event {
    cause: Cause,
    /// One above the last packet that belongs to it.
    end: u64,
    /// Whether each algorithm calls it wireless so far.
    called_wireless: Vec<bool>,
}

impl Events {
    fn new(flows: usize) -> Self {
        Self { open: (0..flows).map(|_| None).collect() }
    }

    fn take(
        &mut self,
        flow: usize,
        moment: Moment<'_>,
        ldas: &[AtSender<AnyAlgorithm>],
        take: &mut impl FnMut(usize, Cause, &[bool]),
    ) {
        match moment {
            Moment::Lost(loss, cause) => {
                self.close(flow, take);
                let Some(cause) = cause else { return };
                let called_wireless = ldas.iter().map(|lda| calls_wireless(lda, loss)).collect();
                let end = loss.seq().unwrap_or(0) + loss.in_flight_pkts;
                self.open[flow] = Some(Event { cause, end, called_wireless });
            }
            Moment::Follows(loss) => {
                let Some(event) = &mut self.open[flow] else { return };
                if loss.seq().is_some_and(|seq| seq >= event.end) {
                    return;
                }
                for (called_wireless, lda) in event.called_wireless.iter_mut().zip(ldas) {
                    if *called_wireless && lda.scope().judges_every_loss {
                        *called_wireless = calls_wireless(lda, loss);
                    }
                }
            }
            Moment::Ends(revised) => {
                if let Some(event) = &mut self.open[flow] {
                    for (called_wireless, revised) in event.called_wireless.iter_mut().zip(revised)
                    {
                        *called_wireless |=
                            revised.is_some_and(|judgement| judgement.verdict == Verdict::Wireless);
                    }
                }
                self.close(flow, take);
            }
        }
    }

    fn close(&mut self, flow: usize, take: &mut impl FnMut(usize, Cause, &[bool])) {
        if let Some(Event { cause, called_wireless, .. }) = self.open[flow].take() {
            take(flow, cause, &called_wireless);
        }
    }
}

fn calls_wireless(lda: &AtSender<AnyAlgorithm>, loss: &Loss) -> bool {
    lda.judge(&loss.within(lda.scope())).verdict.is_wireless()
}

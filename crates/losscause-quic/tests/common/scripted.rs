//! An algorithm that gives the verdicts that a test has written down.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use losscause::{
    Algorithm, Judgement, Loss, Needs, Numbers, Observation, Recovery, Safeguards, Time, Verdict,
};
use losscause_quic::Caps;

/// Caps that never refuse.
pub const NO_CAPS: Caps =
    Caps { max_run: u32::MAX, max_share: 1.0, max_loss_rate: 1.0, safeguards: Safeguards::OFF };

/// Gives these verdicts, one for each loss about which it is asked; then congestion.
#[derive(Clone, Default)]
pub struct Scripted {
    script: Arc<Mutex<Script>>,
    /// The verdict when a recovery ends.
    revised: Option<Verdict>,
}

#[derive(Default)]
struct Script {
    verdicts: VecDeque<Verdict>,
    /// The last loss since an observation, and its verdict: asked again, the answer is the same.
    last: Option<(Time, Option<Numbers>, Verdict)>,
}

impl Scripted {
    pub fn saying(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let script = Script { verdicts: verdicts.into_iter().collect(), last: None };
        Self { script: Arc::new(Mutex::new(script)), revised: None }
    }

    pub fn revising_to(self, verdict: Verdict) -> Self {
        Self { revised: Some(verdict), ..self }
    }

    /// How many verdicts it has not given.
    pub fn left(&self) -> usize {
        self.script().verdicts.len()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no test panicked")
    }
}

fn judgement(verdict: Verdict) -> Judgement {
    Judgement::stated(verdict, "test", "as asked")
}

impl Algorithm for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn needs(&self) -> Needs {
        Needs::NONE
    }

    fn observe(&mut self, _: &Observation) {
        self.script().last = None;
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let mut script = self.script();
        let verdict = match script.last {
            Some((at, numbers, verdict)) if (at, numbers) == (loss.at, loss.numbers) => verdict,
            _ => script.verdicts.pop_front().unwrap_or(Verdict::Congestion),
        };
        script.last = Some((loss.at, loss.numbers, verdict));
        judgement(verdict)
    }

    fn on_recovered(&mut self, _: &Recovery) -> Option<Judgement> {
        self.revised.map(judgement)
    }
}

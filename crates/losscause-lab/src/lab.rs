//! One run under the eyes of a page.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use losscause::truth::Cause;
use losscause::{Span, Time, Verdict};
use losscause_sim::{FlowId, LinkId, VerdictTally};
use losscause_study::files::{Files, Memory};
use losscause_study::run::{LossLog, LostPacket, SimulationResult, Trace, algorithm_of};
use losscause_study::{InputError, Run, RunError, Scenario, Setting, registry};
use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::info::{Adjustable, Info, adjustable, drawn, watched};
use crate::samples::Samples;

/// A run that can be advanced, changed while it goes on, and taken back.
///
/// The same text, settings, seed and changes give the same run, however often it is taken back.
///
/// ```
/// use losscause_lab::{Lab, Numbers};
/// use losscause_study::files::Memory;
///
/// let text = r#"
///     title = "one TCP flow"
///     duration_s = 30
///     link = [{ name = "line", rate_bps = 1e6, delay_ms = 20, queue_packets = 10 }]
///     flow = [{ name = "transfer", protocol = "tcp", path = ["line"] }]
/// "#;
/// let mut lab = Lab::new(text, "line.toml", Memory::new(), &[], 1)?;
/// lab.advance(10.0);
/// lab.change("link.line.rate_bps=2e6")?;
/// lab.advance(30.0);
/// lab.seek(5.0);
/// assert_eq!(lab.now_s(), 5.0);
/// # Ok::<(), losscause_study::RunError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lab {
    scenario: Scenario,
    settings: Vec<Setting>,
    /// What changes when, in order of time. A change holds from its instant on, after everything of that instant.
    changes: Vec<(Time, Setting)>,
    now: Moment,
    /// The start and some later moments, in order.
    kept: Vec<Moment>,
    /// Time between two of them.
    keep_every: Span,
}

/// A run at an instant, with what was seen of it.
#[derive(Clone, Debug)]
struct Moment {
    run: Run,
    /// Changes that have been made.
    changed: usize,
    trace: Trace,
    samples: Samples,
    losses: LossLog,
    /// Numbers of the flows of `losses`.
    loss_flows: Vec<u32>,
    bottleneck: Bottleneck,
    /// Losses that a reader has not seen as they are now.
    unread: Vec<usize>,
}

/// A result, and what was changed on the way to it.
#[derive(Serialize)]
struct Changed {
    #[serde(flatten)]
    result: SimulationResult,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Change>,
}

/// A change of a link, in a result.
#[derive(Serialize)]
struct Change {
    at_s: f64,
    setting: String,
}

/// What a page reads as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// New rows over time: the instant in seconds, packets waiting at the bottleneck, then for each drawn flow its window in
    /// packets or its allowed rate in kb/s, its one-way delay in milliseconds, its goodput in kb/s; NaN if not known.
    Rows,
    /// Losses that are new or have got their verdict, eight numbers each: place in the list; flow; when it was lost, seconds;
    /// when it was judged, or NaN; true cause (0 congestion, 1 wireless, -1 not lost); verdict (0 congestion, 1 wireless, 2
    /// undecided, -1 none); sequence number; 1 if it was lost at the bottleneck that is shown.
    Losses,
    /// The packets at the bottleneck now, five numbers each: flow; 0 data, 1 retransmission, 2 acknowledgement; 0 waits, 1 is
    /// in transmission, 2 is on its way; progress in that from 0 to 1; sequence number.
    Packets,
    /// Packets lost at the bottleneck since the last time, five numbers each: flow; kind as above; 0 dropped, 1 corrupted;
    /// instant, seconds; sequence number.
    Lost,
    /// For each algorithm of [`Info::algorithms`] how often it called congestion losses congestion, wireless, undecided, and
    /// not judged; then the same of wireless losses.
    Verdicts,
}

impl Lab {
    /// A run of the scenario `text`, which errors call `name`, with `settings` in the form KEY=VALUE. Traces and patterns
    /// are read from `files`.
    ///
    /// # Errors
    /// As [`Scenario::parse_from`], [`Setting::parse`], [`Scenario::with`] and [`Scenario::experiment`].
    pub fn new(text: &str, name: &str, files: Memory, settings: &[&str], seed: u64) -> Result<Self, RunError> {
        let settings: Vec<Setting> = settings.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
        let files: Arc<dyn Files> = Arc::new(files.with(Path::new(name), text));
        let scenario = Scenario::parse_from(text, name, files, &registry())?.with(&settings)?;
        let experiment = scenario.experiment_with_delays()?;
        if experiment.network.flows.is_empty() {
            let problem = "there is none, expected at least one flow to watch".to_owned();
            return Err(InputError::Key { file: name.to_owned(), key: "flow".to_owned(), problem }.into());
        }
        let run = Run::new(&experiment, seed)?;
        let link = watched(&experiment);
        let samples = Samples::new(&run, link, &drawn(&experiment.network));
        let now = Moment {
            trace: Trace::default(),
            changed: 0,
            losses: LossLog::new(&experiment),
            loss_flows: Vec::new(),
            bottleneck: Bottleneck::new(link),
            unread: Vec::new(),
            samples,
            run,
        };
        let keep_every = Span::from_nanos(((experiment.duration - Time::ZERO).as_nanos() / KEPT).max(1));
        Ok(Self { scenario, settings, changes: Vec::new(), kept: vec![now.clone()], now, keep_every })
    }

    /// What a page has to know of the run.
    pub fn info(&self) -> Info {
        Info::of(&self.scenario, self.now.run.experiment(), self.now.samples.step().as_secs_f64())
    }

    /// The links as they are now.
    pub fn links(&self) -> Vec<Adjustable> {
        adjustable(&self.scenario, &self.now.run.experiment().network)
    }

    /// The instant up to which everything has happened, seconds.
    pub fn now_s(&self) -> f64 {
        self.now.run.now().as_secs_f64()
    }

    /// Whether the run is over.
    pub fn is_finished(&self) -> bool {
        self.now.run.is_finished()
    }

    /// Advances to `to_s`, at most to the end.
    pub fn advance(&mut self, to_s: f64) {
        let end = self.now.run.experiment().duration;
        let to = instant(to_s).min(end);
        while self.now.run.now() < to || (to == end && !self.is_finished()) {
            let next_change = self.changes.get(self.now.changed).map_or(Time::MAX, |(at, _)| *at);
            self.now.advance(to.min(next_change));
            self.make_changes();
            let last = self.kept.last().map_or(Time::ZERO, |moment| moment.run.now());
            if self.now.run.now() - last >= self.keep_every && self.kept.len() < 2 * KEPT as usize {
                self.kept.push(self.now.clone());
            }
        }
    }

    /// Changes a link from now on: a setting of a link in the form KEY=VALUE. Changes that were made at later instants, before
    /// the run was taken back, are forgotten.
    ///
    /// # Errors
    /// It is no setting of a link, or the link cannot be changed so; then nothing has changed.
    pub fn change(&mut self, setting: &str) -> Result<(), RunError> {
        let setting = Setting::parse(setting)?;
        if !setting.key().starts_with("link.") {
            let problem =
                "holds from the start of a run, expected a key of a link, such as link.NAME.rate_bps".to_owned();
            return Err(InputError::Option { option: setting.to_string(), problem }.into());
        }
        let now = self.now.run.now();
        let mut changes = self.changes[..self.now.changed].to_vec();
        // Of what is set at the same instant, only the last counts.
        changes.retain(|(at, earlier)| *at < now || earlier.key() != setting.key());
        changes.push((now, setting));
        let links = self.links_after(&changes)?;
        self.now.run.change_links(&links)?;
        self.now.changed = changes.len();
        self.changes = changes;
        self.kept.retain(|moment| moment.run.now() < now || moment.run.now() == Time::ZERO);
        Ok(())
    }

    /// Takes the run to another instant, back or forth. All rows and losses up to it are unread then.
    pub fn seek(&mut self, to_s: f64) {
        let to = instant(to_s);
        if to < self.now.run.now() {
            let before = self.kept.iter().rposition(|moment| moment.run.now() <= to).unwrap_or(0);
            self.kept.truncate(before + 1);
            self.now = self.kept[before].clone();
            self.make_changes();
        }
        self.advance(to_s);
        self.now.samples.unread();
        self.now.unread = (0..self.now.losses.losses().len()).collect();
    }

    /// What the run has measured up to now, as `losscause simulate --format json` prints it. At the end of a run that was not
    /// changed on the way it is the same to the byte; else the changes up to now stand behind it, under `changes`.
    pub fn result(&self) -> String {
        let result = SimulationResult::of(&self.scenario, &self.settings, &self.now.run);
        let changes = (self.changes[..self.now.changed].iter())
            .map(|(at, setting)| Change { at_s: at.as_secs_f64(), setting: setting.to_string() })
            .collect();
        let text = serde_json::to_string_pretty(&Changed { result, changes });
        text.unwrap_or_else(|error| unreachable!("plain data: {error}")) + "\n"
    }

    /// The changes that were made, and those that will be made again because the run was taken back: the instant in
    /// seconds, KEY=VALUE.
    pub fn changes(&self) -> Vec<(f64, String)> {
        self.changes.iter().map(|(at, setting)| (at.as_secs_f64(), setting.to_string())).collect()
    }

    /// A loss of the list, by its place.
    pub fn loss(&self, place: usize) -> Option<&LostPacket> {
        self.now.losses.losses().get(place)
    }

    /// Numbers in a row of [`Numbers::Rows`].
    pub fn columns(&self) -> usize {
        self.now.samples.columns()
    }

    /// Appends what is to be read.
    pub fn read(&mut self, what: Numbers, numbers: &mut Vec<f64>) {
        let now = self.now.run.now();
        match what {
            Numbers::Rows => self.now.samples.take_rows(numbers),
            Numbers::Losses => self.now.take_losses(numbers),
            Numbers::Packets => {
                let experiment = self.now.run.experiment();
                let LinkId(link) = watched(experiment);
                self.now.bottleneck.packets(now, &experiment.network.links[link as usize], numbers);
            }
            Numbers::Lost => self.now.bottleneck.take_lost(numbers),
            Numbers::Verdicts => self.now.verdicts(&self.info().algorithms, numbers),
        }
    }

    /// The links of the scenario with these changes.
    fn links_after(&self, changes: &[(Time, Setting)]) -> Result<Vec<losscause_sim::LinkSpec>, InputError> {
        let settings: Vec<Setting> = changes.iter().map(|(_, setting)| setting.clone()).collect();
        Ok(self.scenario.with(&settings)?.experiment()?.network.links)
    }

    /// Makes the changes that are due now. They were accepted before, at the same instant of the same run.
    fn make_changes(&mut self) {
        let now = self.now.run.now();
        let due = self.changes.iter().take_while(|(at, _)| *at <= now).count();
        if due > self.now.changed {
            let links = self.links_after(&self.changes[..due]);
            let made = links.map_err(RunError::from).and_then(|links| self.now.run.change_links(&links));
            debug_assert!(made.is_ok(), "{made:?}");
            self.now.changed = due;
        }
    }
}

impl Moment {
    fn advance(&mut self, to: Time) {
        let end = self.run.experiment().duration;
        loop {
            let next = self.samples.next().min(to);
            let _ = self.run.advance(next, &mut self.trace, |_, _| ControlFlow::Continue(()));
            for event in self.trace.take(next) {
                self.samples.take(&event);
                self.bottleneck.take(&event);
                if let Some(place) = self.losses.take(&event) {
                    if place == self.loss_flows.len() {
                        self.loss_flows.push(event.flow.0);
                    }
                    self.unread.push(place);
                }
            }
            if next == self.samples.next() && next <= end {
                self.samples.sample(&self.run);
            }
            if next >= to {
                return;
            }
        }
    }

    fn take_losses(&mut self, numbers: &mut Vec<f64>) {
        let experiment = self.run.experiment();
        let LinkId(link) = watched(experiment);
        let shown = &experiment.network.links[link as usize].name;
        for place in self.unread.drain(..) {
            let loss = &self.losses.losses()[place];
            let cause = loss.cause.filter(|_| loss.lost.is_some()).map_or(-1.0, |cause| match cause {
                Cause::Congestion => 0.0,
                Cause::Wireless => 1.0,
            });
            let verdict = loss.verdict().map_or(-1.0, |verdict| match verdict {
                Verdict::Congestion => 0.0,
                Verdict::Wireless => 1.0,
                Verdict::Undecided => 2.0,
            });
            let judged_s = loss.judged.map_or(f64::NAN, |(at, _)| at);
            let here = loss.lost.as_ref().is_some_and(|(_, link)| link == shown);
            numbers.extend([place as f64, f64::from(self.loss_flows[place]), loss.at_s(), judged_s]);
            numbers.extend([cause, verdict, loss.seq as f64, f64::from(u8::from(here))]);
        }
    }

    fn verdicts(&self, algorithms: &[&str], numbers: &mut Vec<f64>) {
        let flows = &self.run.experiment().network.flows;
        for algorithm in algorithms {
            let mut tally = VerdictTally::default();
            for (place, _) in
                flows.iter().enumerate().filter(|(_, flow)| algorithm_of(&flow.traffic) == Some(algorithm))
            {
                tally += self.run.flow(FlowId(place as u32)).verdicts;
            }
            for verdicts in [tally.congestion, tally.wireless] {
                let counts =
                    [verdicts.called_congestion, verdicts.called_wireless, verdicts.undecided, verdicts.undetected];
                numbers.extend(counts.map(|count| count as f64));
            }
        }
    }
}

/// Moments that are kept, so that a run taken back is not run again from its start.
const KEPT: i64 = 16;

/// Seconds on the run's clock; what is no instant is the start or the end.
fn instant(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64_rounded(seconds.clamp(0.0, 1e9))
}

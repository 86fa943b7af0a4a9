//! One run under the eyes of a page.

use std::ops::ControlFlow;
use std::path::Path;

use losscause::{Span, Time, Verdict};
use losscause_sim::truth::Cause;
use losscause_sim::{FlowId, LinkId, LinkSpec, Network, VerdictTally};
use losscause_study::files::Memory;
use losscause_study::origin::state_commit;
use losscause_study::run::{LossLog, LostPacket, SimulationResult, Trace, algorithm_of};
use losscause_study::{Context, InputError, Limits, Run, RunError, Scenario, Setting};
use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::info::{Adjustable, FlowInfo, Info, adjustable, drawn, flows, group, link_of, watched};
use crate::samples::Samples;

/// A run that can be advanced, changed while it goes on, and taken back. Links change; flows are
/// added and stopped.
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
    /// As it was given, with its settings.
    scenario: Scenario,
    settings: Vec<Setting>,
    seed: u64,
    /// The scenario with the flows of all changes, also of later ones.
    laid_out: Scenario,
    /// What changes when, in order of time. A change holds from its instant on, after everything of
    /// that instant.
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
    /// The link whose packets are shown.
    link: LinkId,
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

/// A change of the running network, in a result.
#[derive(Serialize)]
struct Change {
    at_s: f64,
    setting: String,
}

/// What a page reads as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// New rows over time: the instant in seconds, packets waiting at the bottleneck, then for each
    /// drawn flow its window in packets or its allowed rate in kb/s, its one-way delay in
    /// milliseconds, its goodput in kb/s; NaN if not known.
    Rows,
    /// Losses that are new or have got their verdict, eight numbers each: place in the list; flow;
    /// when it was lost, seconds; when it was judged, or NaN; true cause (0 congestion, 1 wireless,
    /// -1 not lost); verdict (0 congestion, 1 wireless, 2 undecided, -1 none); sequence number; 1
    /// if it was lost at the bottleneck that is shown.
    Losses,
    /// The packets at the bottleneck now, five numbers each: flow; 0 data, 1 retransmission, 2
    /// acknowledgement; 0 waits, 1 is in transmission, 2 is on its way; progress in that from 0 to
    /// 1; sequence number. Then the acknowledgements of what crosses the bottleneck, wherever they
    /// are on their way back: 3 in place of 0 to 2.
    Packets,
    /// Packets lost at the bottleneck since the last time, five numbers each: flow; kind as above;
    /// 0 dropped, 1 corrupted; instant, seconds; sequence number.
    Lost,
    /// For each algorithm of [`Info::algorithms`] how often it called congestion losses congestion,
    /// wireless, undecided, and not judged; then the same of wireless losses.
    Verdicts,
}

impl Lab {
    /// A run of the scenario `text`, which errors call `name`, with `settings` in the form
    /// KEY=VALUE. Traces and patterns are read from `files`.
    ///
    /// # Errors
    /// As [`Scenario::parse`], [`Setting::parse`], [`Scenario::with`] and [`Scenario::experiment`].
    pub fn new(
        text: &str,
        name: &str,
        files: Memory,
        settings: &[&str],
        seed: u64,
    ) -> Result<Self, RunError> {
        let settings: Vec<Setting> =
            settings.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
        // A text may come with a link: it cannot ask for more of the reader's machine.
        let limits = Limits { largest_budget: 1.0, ..Limits::default() };
        let files = files.with(Path::new(name), text);
        let context = Context::default().with_files(files).with_limits(limits);
        let scenario = Scenario::parse(text, name, &context)?.with(&settings)?;
        let now = Moment::start(&scenario, None, seed)?;
        let duration = now.run.experiment().duration - Time::ZERO;
        let keep_every = Span::from_nanos((duration.as_nanos() / KEPT).max(1));
        let laid_out = scenario.clone();
        let kept = vec![now.clone()];
        Ok(Self { scenario, settings, seed, laid_out, changes: Vec::new(), now, kept, keep_every })
    }

    /// What a page has to know of the run.
    pub fn info(&self) -> Info {
        Info::of(
            &self.scenario,
            self.now.run.experiment(),
            self.now.link,
            self.now.samples.step().as_secs_f64(),
        )
    }

    /// All flows, also those that start later and those that have stopped.
    pub fn flows(&self) -> Vec<FlowInfo> {
        flows(&self.now.run.experiment().network)
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
        self.advance_to(instant(to_s));
    }

    fn advance_to(&mut self, to: Time) {
        let end = self.now.run.experiment().duration;
        let to = to.min(end);
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

    /// Changes the network from now on, by one of these, KEY=VALUE:
    ///
    /// - a setting of a link, such as `link.NAME.rate_bps=1e6`;
    /// - a flow more, `flow.NAME={ protocol = "tcp", path = ["LINK"] }`, which starts within a
    ///   millisecond unless it has a later `start_s`;
    /// - `flow.NAME.stop_s=now` or a later instant, which stops a flow.
    ///
    /// Changes that were made at later instants, before the run was taken back, are forgotten.
    ///
    /// # Errors
    /// It is none of these, or the network cannot be changed so; then nothing has changed.
    pub fn change(&mut self, setting: &str) -> Result<(), RunError> {
        self.change_all(&[setting])
    }

    /// All of `settings` or none, as [`Lab::change`].
    ///
    /// # Errors
    /// As [`Lab::change`].
    pub fn change_all(&mut self, settings: &[&str]) -> Result<(), RunError> {
        let now = self.now.run.now();
        let mut changes = self.changes[..self.now.changed].to_vec();
        for text in settings {
            let setting = self.checked(Setting::parse(text)?)?;
            // Of what is set at the same instant, only the last counts.
            changes.retain(|(at, earlier)| *at < now || earlier.key() != setting.key());
            if let Some(flow) = self.never_running(&setting, &changes) {
                changes
                    .retain(|(_, earlier)| earlier.key() != flow && earlier.key() != setting.key());
                continue;
            }
            changes.push((now, setting));
            if of_flows(&changes).filter(|change| change.value().is_table()).count() > MOST_ADDED {
                let problem = format!("there are {MOST_ADDED} added flows, expected no more");
                return Err(InputError::option(*text, problem).into());
            }
        }
        let others = !of_flows(&changes).eq(of_flows(&self.changes));
        let mut again = others.then(|| self.again(&changes, self.watched())).transpose()?;
        let run = again.as_mut().unwrap_or(self);
        let links = links_after(&run.laid_out, &changes)?;
        run.now.run.change_links(&links)?;
        run.now.changed = changes.len();
        run.changes = changes;
        run.kept.retain(|moment| moment.run.now() < now || moment.run.now() == Time::ZERO);
        if let Some(mut again) = again {
            again.now.read_as(&self.now);
            *self = again;
        }
        Ok(())
    }

    /// Shows the packets of another link, and its queue. All rows and losses up to now are unread
    /// then. The run stays what it is.
    ///
    /// # Errors
    /// The scenario has no such link.
    pub fn watch(&mut self, link: &str) -> Result<(), RunError> {
        let network = &self.now.run.experiment().network;
        let Some(LinkId(place)) = link_of(link, network) else {
            let names: Vec<String> = self.links().into_iter().map(|link| link.name).collect();
            let problem =
                format!("the scenario has no such link, expected one of {}", names.join(", "));
            return Err(InputError::option(link, problem).into());
        };
        if LinkId(place) != self.now.link {
            let mut again = self.again(&self.changes, &network.links[place as usize].name)?;
            again.changes = std::mem::take(&mut self.changes);
            again.make_changes();
            *self = again;
        }
        self.unread();
        Ok(())
    }

    /// The run up to now once more, with the flows of `changes` and its earlier changes of links,
    /// seen at `link`.
    fn again(&self, changes: &[(Time, Setting)], link: &str) -> Result<Self, RunError> {
        let now = self.now.run.now();
        let flows: Vec<Setting> = of_flows(changes).cloned().collect();
        let laid_out = self.scenario.with(&flows)?;
        let start = Moment::start(&laid_out, Some(link), self.seed)?;
        check_past(&self.now.run.experiment().network, &start.run.experiment().network, now)?;
        let mut again = Self {
            scenario: self.scenario.clone(),
            settings: self.settings.clone(),
            laid_out,
            changes: changes.iter().filter(|(at, _)| *at < now).cloned().collect(),
            kept: vec![start.clone()],
            now: start,
            ..*self
        };
        again.advance_to(now);
        // Every random stream belongs to a component, and what is new comes later: the past is the
        // same.
        debug_assert_eq!(again.now.losses.losses().len(), self.now.losses.losses().len());
        Ok(again)
    }

    /// A setting that can change a run while it goes on, with its instant in it.
    fn checked(&self, setting: Setting) -> Result<Setting, InputError> {
        let refused = |problem: &str| Err(InputError::option(setting.to_string(), problem));
        let soon_s = soon_s(self.now.run.now());
        let parts: Vec<&str> = setting.key().split('.').collect();
        match parts[..] {
            ["link", _, _, ..] => Ok(setting),
            ["flow", _] => {
                let Some(mut flow) = setting.value().as_table().cloned() else {
                    return refused(
                        "adds no flow, expected { protocol = \"tcp\", path = [\"LINK\"] }",
                    );
                };
                // The curves and metrics of a run are those of the flows that it began with.
                if flow.get("measured").is_some_and(|measured| measured.as_bool() != Some(false)) {
                    return refused("the flow is measured, expected measured = false");
                }
                if !flow.contains_key("arrivals") {
                    flow.entry("start_s").or_insert(soon_s.into());
                }
                flow.entry("measured").or_insert(false.into());
                Ok(Setting::new(setting.key(), flow))
            }
            ["flow", _, "stop_s"] if setting.value().as_str() == Some("now") => {
                Ok(Setting::new(setting.key(), soon_s))
            }
            ["flow", _, "stop_s"] => Ok(setting),
            _ => refused(
                "holds from the start of a run, expected a key of a link, such as link.NAME.rate_bps, a flow more, \
                 flow.NAME={ … }, or flow.NAME.stop_s",
            ),
        }
    }

    /// The key of a flow that `changes` add and `stop` stops no later than it starts: as if it had
    /// never been asked for.
    fn never_running<'a>(&self, stop: &'a Setting, changes: &[(Time, Setting)]) -> Option<&'a str> {
        let key = stop.key().strip_suffix(".stop_s")?;
        let stop_s = stop
            .value()
            .as_float()
            .or_else(|| stop.value().as_integer().map(|whole| whole as f64))?;
        let name = key.strip_prefix("flow.")?;
        let flows = &self.now.run.experiment().network.flows;
        let first =
            flows.iter().filter(|flow| group(&flow.name) == name).map(|flow| flow.start).min()?;
        let is_added = changes.iter().any(|(_, change)| change.key() == key);
        (is_added && stop_s <= first.as_secs_f64()).then_some(key)
    }

    /// Takes the run to another instant, back or forth. All rows and losses up to it are unread
    /// then.
    pub fn seek(&mut self, to_s: f64) {
        let to = instant(to_s);
        if to < self.now.run.now() {
            let before = self.kept.iter().rposition(|moment| moment.run.now() <= to).unwrap_or(0);
            self.kept.truncate(before + 1);
            self.now = self.kept[before].clone();
            self.make_changes();
        }
        self.advance(to_s);
        self.unread();
    }

    fn unread(&mut self) {
        self.now.samples.unread();
        self.now.unread = (0..self.now.losses.losses().len()).collect();
    }

    /// What the run has measured up to now, as `losscause simulate --format json` prints it. At the
    /// end of a run whose links were not changed on the way it is the same to the byte, with the
    /// settings that added and stopped flows. Else the changes of links up to now stand behind it,
    /// under `changes`.
    pub fn result(&self) -> String {
        let settings: Vec<Setting> =
            self.settings.iter().chain(of_flows(&self.changes)).cloned().collect();
        state_commit(option_env!("LOSSCAUSE_COMMIT").unwrap_or_default());
        let result = SimulationResult::of(&self.laid_out, &settings, &self.now.run);
        let changes = (self.changes[..self.now.changed].iter())
            .filter(|(_, setting)| !is_of_flow(setting))
            .map(|(at, setting)| Change { at_s: at.as_secs_f64(), setting: setting.to_string() })
            .collect();
        let text = serde_json::to_string_pretty(&Changed { result, changes });
        text.unwrap_or_else(|error| unreachable!("plain data: {error}")) + "\n"
    }

    /// The changes that were made, and those that will be made again because the run was taken
    /// back: the instant in seconds, KEY=VALUE.
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
                let network = &self.now.run.experiment().network;
                self.now.bottleneck.packets(now, network, numbers);
            }
            Numbers::Lost => self.now.bottleneck.take_lost(numbers),
            Numbers::Verdicts => self.now.verdicts(&self.info().algorithms, numbers),
        }
    }

    /// The name of the link whose packets are shown.
    fn watched(&self) -> &str {
        let LinkId(link) = self.now.link;
        &self.now.run.experiment().network.links[link as usize].name
    }

    /// Makes the changes that are due now. They were accepted before, at the same instant of the
    /// same run.
    fn make_changes(&mut self) {
        let now = self.now.run.now();
        let due = self.changes.iter().take_while(|(at, _)| *at <= now).count();
        if due > self.now.changed {
            let links = links_after(&self.laid_out, &self.changes[..due]);
            let made =
                links.map_err(RunError::from).and_then(|links| self.now.run.change_links(&links));
            debug_assert!(made.is_ok(), "{made:?}");
            self.now.changed = due;
        }
    }
}

impl Moment {
    /// The start of a run of `scenario`. The packets at `link` are shown; without a name, those at
    /// its bottleneck.
    fn start(scenario: &Scenario, link: Option<&str>, seed: u64) -> Result<Self, RunError> {
        let experiment = scenario.experiment_with_delays()?;
        if experiment.network.flows.is_empty() {
            let problem = "there is none, expected at least one flow to watch";
            return Err(InputError::key(scenario.file().to_owned(), "flow", problem).into());
        }
        let run = Run::new(&experiment, seed)?;
        let link = link
            .and_then(|link| link_of(link, &experiment.network))
            .unwrap_or_else(|| watched(&experiment));
        let samples = Samples::new(&run, link, &drawn(&experiment.network));
        Ok(Self {
            link,
            trace: Trace::default(),
            changed: 0,
            losses: LossLog::new(&experiment),
            loss_flows: Vec::new(),
            bottleneck: Bottleneck::new(link),
            unread: Vec::new(),
            samples,
            run,
        })
    }

    /// What a reader has read of `other`, it has read of this.
    fn read_as(&mut self, other: &Self) {
        self.samples.read_as(&other.samples);
        self.bottleneck.read_as(&other.bottleneck);
        self.unread.clone_from(&other.unread);
    }

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
        let LinkId(link) = self.link;
        let shown = &experiment.network.links[link as usize].name;
        for place in self.unread.drain(..) {
            let loss = &self.losses.losses()[place];
            let cause =
                loss.cause.filter(|_| loss.lost.is_some()).map_or(-1.0, |cause| match cause {
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
            numbers.extend([
                place as f64,
                f64::from(self.loss_flows[place]),
                loss.at_s(),
                judged_s,
            ]);
            numbers.extend([cause, verdict, loss.seq as f64, f64::from(u8::from(here))]);
        }
    }

    fn verdicts(&self, algorithms: &[&str], numbers: &mut Vec<f64>) {
        let flows = &self.run.experiment().network.flows;
        for algorithm in algorithms {
            let mut tally = VerdictTally::default();
            for (place, _) in flows
                .iter()
                .enumerate()
                .filter(|(_, flow)| algorithm_of(&flow.traffic) == Some(algorithm))
            {
                tally += self.run.flow(FlowId(place as u32)).verdicts;
            }
            for verdicts in [tally.congestion, tally.wireless] {
                let counts = [
                    verdicts.called_congestion,
                    verdicts.called_wireless,
                    verdicts.undecided,
                    verdicts.undetected,
                ];
                numbers.extend(counts.map(|count| count as f64));
            }
        }
    }
}

fn is_of_flow(change: &Setting) -> bool {
    change.key().starts_with("flow.")
}

/// The changes that add and stop flows, in order of time.
fn of_flows(changes: &[(Time, Setting)]) -> impl Iterator<Item = &Setting> {
    changes.iter().map(|(_, setting)| setting).filter(|setting| is_of_flow(setting))
}

/// The links of a scenario, which has the flows of all changes, after these changes.
fn links_after(
    laid_out: &Scenario,
    changes: &[(Time, Setting)],
) -> Result<Vec<LinkSpec>, InputError> {
    let changes = changes.iter().map(|(_, setting)| setting).filter(|setting| !is_of_flow(setting));
    let settings: Vec<Setting> = changes.cloned().collect();
    Ok(laid_out.with(&settings)?.experiment()?.network.links)
}

/// Refuses flows that are added or stopped before `now`.
fn check_past(before: &Network, after: &Network, now: Time) -> Result<(), InputError> {
    let now_s = now.as_secs_f64();
    let refused =
        |flow: &str, problem: String| Err(InputError::option(format!("flow.{flow}"), problem));
    for flow in &after.flows {
        match before.flows.iter().find(|earlier| earlier.name == flow.name) {
            None if flow.start <= now => {
                let at_s = flow.start.as_secs_f64();
                return refused(
                    group(&flow.name),
                    format!("starts at {at_s} s, expected later than now, {now_s} s"),
                );
            }
            Some(earlier) if earlier.stop != flow.stop => {
                if let Some(stop) = earlier.stop.filter(|stop| *stop <= now) {
                    return refused(
                        group(&flow.name),
                        format!("stopped at {} s, expected a flow that runs", stop.as_secs_f64()),
                    );
                }
                if let Some(stop) = flow.stop.filter(|stop| *stop <= now) {
                    let at_s = stop.as_secs_f64();
                    return refused(
                        group(&flow.name),
                        format!("stops at {at_s} s, expected later than now, {now_s} s"),
                    );
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The next whole millisecond, in seconds: everything up to `now` has happened.
fn soon_s(now: Time) -> f64 {
    ((now - Time::ZERO).as_nanos() / 1_000_000 + 1) as f64 / 1e3
}

/// Flows that can be added to a run.
const MOST_ADDED: usize = 64;

/// Moments that are kept, so that a run taken back is not run again from its start.
const KEPT: i64 = 16;

/// Seconds on the run's clock; what is no instant is the start or the end.
fn instant(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64_rounded(seconds.clamp(0.0, 1e9))
}

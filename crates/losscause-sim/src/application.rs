//! Applications over TCP: the client asks, and the server's sender gets the data of one response at
//! a time.
//!
//! ```text
//! request     leaves the client when it asks, and reaches the server after the delays of the links back
//! response    is complete when the client has all of its packets; it is timed from the request on
//! wait        request-response: the client thinks. Video: until less than `buffer` is left to play
//! ```
//!
//! The first response is timed from the start of the flow, the handshake included: the client asks
//! when it is over. A player begins to play with its first chunk, and stalls when it has nothing
//! left to play.
//!
//! Deviations from real applications: a request is never lost and waits in no queue; one response at
//! a time is asked for; responses are whole packets; video has one bitrate and does not adapt.
//!
//! A response of ten packets, again and again:
//!
//! ```
//! use losscause::{Span, Time};
//! use losscause_sim::{
//!     ApplicationReport, ApplicationSpec, FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network,
//!     QueueSpec, Simulation, Traffic, Waits, tcp,
//! };
//!
//! // 20 ms there and 20 ms back; a packet of 1500 bytes takes 1.2 ms.
//! let queue = QueueSpec::DropTail { limit: Limit::Packets(100) };
//! let link = |name: &str| LinkSpec::wired(name, 10_000_000, Span::from_millis(20), queue.clone());
//! let traffic = Traffic::tcp(tcp::Config::linux());
//! let waits = Waits::Think { mean: Span::from_secs(1), lengths: None };
//! let flow = FlowSpec {
//!     application: Some(ApplicationSpec { response_pkts: 10, waits }),
//!     ..FlowSpec::new("client", &[LinkId(0)], &[LinkId(1)], traffic)
//! };
//! let network = Network { links: vec![link("there"), link("back")], flows: vec![flow] };
//! let mut simulation = Simulation::new(&network, 1)?;
//! simulation.run_until(Time::ZERO + Span::from_secs(10), &mut ());
//! let Some(ApplicationReport { response_times, .. }) = simulation.application(FlowId(0)) else {
//!     unreachable!("the flow has an application")
//! };
//! assert_eq!(response_times[1], Span::from_millis(52), "20 for the request, 12, and 20");
//! # Ok::<(), losscause_sim::NetworkError>(())
//! ```

use losscause::{Span, Time};

use crate::rng::Stream;
use crate::topology::Lengths;

/// What the client of a TCP flow does. The server sends `response_pkts` at each request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ApplicationSpec {
    /// Size of a response, packets. At least 1.
    pub response_pkts: u64,
    /// How long the client waits before it asks again.
    pub waits: Waits,
}

/// How long a client waits after a response before it asks again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Waits {
    /// It thinks.
    Think {
        /// Mean time; not negative.
        mean: Span,
        /// Its distribution; none: always the same.
        lengths: Option<Lengths>,
    },
    /// It plays what it has got: a player of chunked video.
    Play {
        /// How long a response plays; above 0.
        chunk: Span,
        /// It asks while less than this is left to play; above 0.
        buffer: Span,
    },
}

/// What a client has got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApplicationReport {
    /// Per complete response, the time from its request to its last packet.
    pub response_times: Vec<Span>,
    /// How often a player had nothing left to play, the present time included.
    pub stalls: u64,
    /// How long in all.
    pub stalled: Span,
}

/// An application in motion.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    spec: ApplicationSpec,
    /// How long a request is under way.
    request: Span,
    stream: Stream,
    /// When the client asked for the present response.
    asked_at: Time,
    /// When the request reaches the server; [`Time::MAX`] if none is under way.
    due: Time,
    phase: Phase,
    /// Packets delivered when the present response is complete.
    end_pkts: u64,
    /// When a player has nothing left to play, once it plays.
    plays_until: Option<Time>,
    report: ApplicationReport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The connection is not open.
    Opening,
    /// A request is under way, or a response.
    Asked,
}

impl Application {
    /// `request` is how long a request is under way.
    pub(crate) fn new(spec: ApplicationSpec, request: Span, stream: Stream) -> Self {
        Self {
            spec,
            request,
            stream,
            asked_at: Time::ZERO,
            due: Time::MAX,
            phase: Phase::Opening,
            end_pkts: spec.response_pkts,
            plays_until: None,
            report: ApplicationReport::default(),
        }
    }

    /// The flow starts.
    pub(crate) fn start(&mut self, now: Time) {
        self.asked_at = now;
    }

    /// The connection is open. Only the first call has an effect.
    pub(crate) fn on_open(&mut self, now: Time) {
        if self.phase == Phase::Opening {
            self.phase = Phase::Asked;
            self.due = now + self.request;
        }
    }

    /// `delivered_pkts` have been delivered to the client.
    pub(crate) fn on_delivered(&mut self, now: Time, delivered_pkts: u64) {
        if self.phase == Phase::Opening || delivered_pkts < self.end_pkts {
            return;
        }
        self.report.response_times.push(now - self.asked_at);
        self.end_pkts = self.end_pkts.saturating_add(self.spec.response_pkts);
        self.asked_at = now + self.wait(now);
        self.due = self.asked_at + self.request;
    }

    /// How long the client waits after a response that is complete now.
    fn wait(&mut self, now: Time) -> Span {
        match self.spec.waits {
            Waits::Think { mean, lengths: None } => mean,
            Waits::Think { mean, lengths: Some(lengths) } => {
                Span::from_nanos(lengths.draw(&mut self.stream, mean.as_nanos_f64()) as i64)
            }
            Waits::Play { chunk, buffer } => {
                self.report = self.report_at(now);
                let until = self.plays_until.unwrap_or(now).max(now) + chunk;
                self.plays_until = Some(until);
                (until - now - buffer).max(Span::ZERO)
            }
        }
    }

    /// The packets that a request asks for which has reached the server by now.
    pub(crate) fn poll(&mut self, now: Time) -> Option<u64> {
        (self.due <= now).then(|| {
            self.due = Time::MAX;
            self.spec.response_pkts
        })
    }

    /// When to [`poll`](Self::poll).
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// What the client has got by now.
    pub(crate) fn report_at(&self, now: Time) -> ApplicationReport {
        let mut report = self.report.clone();
        if let Some(until) = self.plays_until.filter(|until| *until < now) {
            report.stalls += 1;
            report.stalled += now - until;
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    /// Plays chunks of 1 s and asks while less than 2 s are left; requests take 10 ms.
    fn player() -> Application {
        let waits = Waits::Play { chunk: Span::from_secs(1), buffer: Span::from_secs(2) };
        let spec = ApplicationSpec { response_pkts: 10, waits };
        let mut player = Application::new(spec, Span::from_millis(10), Stream::new(1, "player"));
        player.start(at(0));
        player.on_open(at(100));
        assert_eq!(player.due(), at(110));
        assert_eq!((player.poll(at(109)), player.poll(at(110))), (None, Some(10)));
        player
    }

    #[test]
    fn a_player_fills_its_buffer_and_then_asks_as_it_plays() {
        let mut player = player();
        player.on_delivered(at(290), 9);
        assert_eq!(player.due(), Time::MAX, "the chunk is not complete");
        player.on_delivered(at(300), 10);
        // It plays until 1300 ms, less than the 2 s of its buffer: it asks at once.
        assert_eq!((player.due(), player.poll(at(310))), (at(310), Some(10)));
        player.on_delivered(at(400), 20);
        assert_eq!((player.due(), player.poll(at(410))), (at(410), Some(10)));
        // It plays until 3300 ms; 2 s are left at 1300 ms.
        player.on_delivered(at(500), 30);
        assert_eq!(player.due(), at(1_310));
        let report = player.report_at(at(3_300));
        assert_eq!(report.response_times, [300, 100, 100].map(Span::from_millis));
        assert_eq!((report.stalls, report.stalled), (0, Span::ZERO));
    }

    #[test]
    fn a_late_chunk_stalls_the_player_from_the_end_of_the_last() {
        let mut player = player();
        player.on_delivered(at(300), 10);
        // Nothing is left to play from 1300 ms on.
        player.on_delivered(at(1_500), 20);
        let stalls = |player: &Application, now| {
            let report = player.report_at(at(now));
            (report.stalls, report.stalled)
        };
        assert_eq!(stalls(&player, 2_400), (1, Span::from_millis(200)));
        assert_eq!(stalls(&player, 2_600), (2, Span::from_millis(300)), "the present one counts");
    }
}

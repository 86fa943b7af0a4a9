//! The controller: s2n-quic's calls go to its CUBIC, except for losses that the algorithm takes for
//! wireless.
//!
//! ```text
//! s2n-quic calls                CUBIC              algorithm
//! on_packet_sent                told               tracker: a number
//! of an ACK, in this order:
//!   on_rtt_update               told               -
//!   on_packet_lost (each)       see on_ack         see on_ack
//!   on_explicit_congestion      told               told, not asked
//!   on_ack                      grows              one sample: round-trip time, spanned and missing packets;
//!                                                  then the ACK's losses, as one batch: see `Losses`
//! of a timer: on_packet_lost    unless ignored     told and asked, packet by packet
//! on_packet_discarded           told               -
//! on_mtu_update                 told               -
//! ```
//!
//! *Losses of an ACK wait for its `on_ack`*: only then has the algorithm observed the ACK, which
//! may have shown the gap. CUBIC hears of them first and of the ACK then, as from s2n-quic itself.
//! Nothing is sent and no window is read in between. If another call comes first, they are judged
//! before it.
//!
//! *What "wireless" does*: the packet leaves CUBIC's bytes in flight (`on_packet_discarded`) and
//! nothing else happens, so the window stays, and grows on when the recovery has ended.
//!
//! *A revised verdict* has no effect: s2n-quic's CUBIC cannot be put back, because it counts the
//! bytes in flight.

use std::fmt;

use losscause::ack::Growing;
use losscause::safeguard::Watch;
use losscause::{Algorithm, AnyAlgorithm, SenderDifferentiator, Signal, Time};
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::congestion_controller::{CongestionController, Publisher};
use s2n_quic_core::recovery::{CubicCongestionController, RttEstimator};
use s2n_quic_core::time::Timestamp;

use super::signals::{Clock, OpenPackets};
use crate::{Ack, Base, Caps, Choice, Counts, Event, LossVerdict, Losses, Response};

/// s2n-quic's CUBIC with an algorithm in front; built by [`LossTolerant`](super::LossTolerant).
#[derive(Clone)]
pub struct LossTolerantController {
    cubic: Cubic,
    sender: SenderDifferentiator<AnyAlgorithm, Growing>,
    needs_cwnd: bool,
    clock: Clock,
    packets: OpenPackets,
    mtu: u16,
    losses: Losses<Cubic>,
    /// When the ACK arrived whose round-trip time was told and whose packets were not.
    ack: Option<Timestamp>,
    /// The losses that wait for those packets.
    waiting: Vec<Lost>,
}

/// What this controller gives s2n-quic to keep with a packet: the packet's number, unless it has no
/// bytes in flight.
#[derive(Clone, Copy, Debug)]
pub struct PacketInfo {
    number: Option<u64>,
}

#[derive(Clone)]
struct Cubic(CubicCongestionController);

impl Base for Cubic {
    fn window(&self) -> u64 {
        self.0.congestion_window().into()
    }

    fn kept_1024(&self) -> Option<u32> {
        Some(Watch::CUBIC)
    }
}

/// The arguments of `on_packet_lost`.
#[derive(Clone, Copy)]
struct Lost {
    bytes: u32,
    number: Option<u64>,
    persistent: bool,
    new_burst: bool,
    at: Timestamp,
}

impl LossTolerantController {
    /// How many verdicts [`LossTolerantController::last_verdicts`] keeps.
    pub const LAST_VERDICTS: usize = Losses::<Cubic>::LAST_VERDICTS;

    pub(crate) fn new(cubic: CubicCongestionController, choice: &Choice, mtu: u16) -> Self {
        let (sender, losses) = choice.build();
        let mut controller = Self {
            cubic: Cubic(cubic),
            needs_cwnd: sender.algorithm().needs().cwnd,
            sender,
            clock: Clock::default(),
            packets: OpenPackets::up_to(choice.memory_pkts()),
            mtu,
            losses,
            ack: None,
            waiting: Vec::new(),
        };
        controller.tell_cwnd();
        controller
    }

    /// The counts of this path.
    pub fn counts(&self) -> Counts {
        self.losses.counts()
    }

    /// The last verdicts of this path, the oldest first.
    pub fn last_verdicts(&self) -> impl Iterator<Item = &LossVerdict> {
        self.losses.last_verdicts()
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.losses.caps()
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &AnyAlgorithm {
        self.sender.algorithm()
    }

    /// s2n-quic's CUBIC below.
    pub fn cubic(&self) -> &CubicCongestionController {
        &self.cubic.0
    }

    /// The controller's number among those of an endpoint, as in [`LossVerdict::connection`].
    pub fn connection(&self) -> u64 {
        self.losses.connection()
    }

    fn tell_cwnd(&mut self) {
        if self.needs_cwnd {
            self.sender
                .set_cwnd(self.losses.window(&self.cubic) as f64 / f64::from(self.mtu.max(1)));
        }
    }

    /// Judges the losses that wait for an ACK's packets.
    fn judge_waiting<Pub: Publisher>(&mut self, publisher: &mut Pub) {
        self.ack = None;
        if !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            self.judge(&waiting, publisher);
            // Keeps its memory.
            self.waiting = waiting;
            self.waiting.clear();
        }
    }

    /// Judges losses that were declared at once; at least one.
    fn judge<Pub: Publisher>(&mut self, batch: &[Lost], publisher: &mut Pub) {
        for number in batch.iter().filter_map(|lost| lost.number) {
            if let Some(number) = self.packets.lose(number) {
                self.sender.on_lost(number);
            }
        }
        let is_persistent = batch.iter().any(|lost| lost.persistent);
        let event = Event {
            at: batch.last().map_or(Time::ZERO, |lost| self.clock.time(lost.at)),
            signal: if is_persistent { Signal::PersistentCongestion } else { Signal::Gap },
            lost_bytes: batch.iter().map(|lost| u64::from(lost.bytes)).sum(),
            packet_bytes: self.mtu,
        };
        let response = self.losses.declare(&mut self.sender, &mut self.cubic, event, |cubic| {
            for &Lost { bytes, persistent, new_burst, at, .. } in batch {
                cubic.0.on_packet_lost(
                    bytes,
                    (),
                    persistent,
                    new_burst,
                    &mut NotDrawn,
                    at,
                    publisher,
                );
            }
        });
        if response == Response::Kept {
            for lost in batch {
                self.cubic.0.on_packet_discarded(lost.bytes as usize, publisher);
            }
        }
        self.tell_cwnd();
    }
}

/// CUBIC draws no random numbers.
struct NotDrawn;

impl Generator for NotDrawn {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0);
    }
}

impl CongestionController for LossTolerantController {
    type PacketInfo = PacketInfo;

    fn congestion_window(&self) -> u32 {
        u32::try_from(self.losses.window(&self.cubic)).unwrap_or(u32::MAX)
    }

    fn bytes_in_flight(&self) -> u32 {
        self.cubic.0.bytes_in_flight()
    }

    fn is_congestion_limited(&self) -> bool {
        self.cubic.0.is_congestion_limited()
    }

    fn requires_fast_retransmission(&self) -> bool {
        self.cubic.0.requires_fast_retransmission()
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        rtt_estimator: &RttEstimator,
        publisher: &mut Pub,
    ) -> PacketInfo {
        self.judge_waiting(publisher);
        self.cubic.0.on_packet_sent(time_sent, sent_bytes, app_limited, rtt_estimator, publisher);
        if sent_bytes == 0 {
            return PacketInfo { number: None };
        }
        let number = self.packets.on_sent(sent_bytes);
        self.sender.on_sent(number, self.clock.time(time_sent));
        PacketInfo { number: Some(number) }
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        now: Timestamp,
        rtt_estimator: &RttEstimator,
        publisher: &mut Pub,
    ) {
        self.judge_waiting(publisher);
        self.cubic.0.on_rtt_update(time_sent, now, rtt_estimator, publisher);
        self.ack = Some(now);
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        newest_acked_packet_info: PacketInfo,
        rtt_estimator: &RttEstimator,
        random_generator: &mut dyn Generator,
        ack_receive_time: Timestamp,
        publisher: &mut Pub,
    ) {
        if let Some(newest) = newest_acked_packet_info.number {
            let sender = &mut self.sender;
            let mut pkts = 0;
            self.packets.acknowledge(newest, bytes_acknowledged, |number| {
                sender.on_acked(number);
                pkts += 1;
            });
            let ack = Ack { at: self.clock.time(ack_receive_time), pkts, largest: None };
            self.losses.end_of_ack(sender, &mut self.cubic, ack);
        }
        self.judge_waiting(publisher);
        self.cubic.0.on_ack(
            newest_acked_time_sent,
            bytes_acknowledged,
            (),
            rtt_estimator,
            random_generator,
            ack_receive_time,
            publisher,
        );
        self.tell_cwnd();
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet_info: PacketInfo,
        persistent_congestion: bool,
        new_loss_burst: bool,
        _: &mut dyn Generator,
        timestamp: Timestamp,
        publisher: &mut Pub,
    ) {
        let lost = Lost {
            bytes: lost_bytes,
            number: packet_info.number,
            persistent: persistent_congestion,
            new_burst: new_loss_burst,
            at: timestamp,
        };
        if self.ack == Some(timestamp) {
            self.waiting.push(lost);
        } else {
            self.judge_waiting(publisher);
            self.judge(&[lost], publisher);
        }
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        ce_count: u64,
        event_time: Timestamp,
        publisher: &mut Pub,
    ) {
        self.judge_waiting(publisher);
        let at = self.clock.time(event_time);
        let event = Event { at, signal: Signal::EcnMark, lost_bytes: 0, packet_bytes: self.mtu };
        self.losses.declare(&mut self.sender, &mut self.cubic, event, |cubic| {
            cubic.0.on_explicit_congestion(ce_count, event_time, publisher);
        });
        self.tell_cwnd();
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, publisher: &mut Pub) {
        self.judge_waiting(publisher);
        self.mtu = max_data_size;
        self.cubic.0.on_mtu_update(max_data_size, publisher);
        self.losses.on_mtu_update();
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, publisher: &mut Pub) {
        self.judge_waiting(publisher);
        self.packets.discard(bytes_sent);
        self.cubic.0.on_packet_discarded(bytes_sent, publisher);
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.cubic.0.earliest_departure_time()
    }

    fn send_quantum(&self) -> Option<usize> {
        self.cubic.0.send_quantum()
    }
}

impl fmt::Debug for LossTolerantController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossTolerantController")
            .field("cubic", &self.cubic.0)
            .field("algorithm", &self.algorithm().name())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

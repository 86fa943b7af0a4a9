//! A controller driven by hand, as s2n-quic drives it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses a part, and may stop at a surprise"
)]

#[path = "../common/scripted.rs"]
mod scripted;

use std::time::Duration;

use losscause::AnyAlgorithm;
use losscause_quic::s2n_quic::{LossTolerant, LossTolerantController};
use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::inet::SocketAddress;
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::congestion_controller::{
    CongestionController, Endpoint, PathInfo, Publisher,
};
use s2n_quic_core::recovery::{CubicCongestionController, RttEstimator};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
pub use scripted::{NO_CAPS, Scripted};

/// What s2n-quic makes of its initial MTU for a path over IPv4.
pub const MTU: usize = 1200;

/// s2n-quic's calls. Packet `n` is the `n`-th that was sent.
pub struct Driver<C: CongestionController> {
    pub controller: C,
    pub now: Timestamp,
    sent: Vec<Sent<C::PacketInfo>>,
    largest_acked: Option<usize>,
    rtt: RttEstimator,
}

#[derive(Clone, Copy)]
struct Sent<I> {
    at: Timestamp,
    bytes: usize,
    info: I,
    is_open: bool,
}

pub fn controller(mut endpoint: LossTolerant) -> LossTolerantController {
    let address = SocketAddress::default();
    let controller =
        endpoint.new_congestion_controller(PathInfo::new(&Default::default(), &address));
    assert_eq!(controller.congestion_window() as usize, 10 * MTU);
    controller
}

pub fn bare_cubic() -> CubicCongestionController {
    CubicCongestionController::new(MTU as u16, Default::default())
}

impl<C: CongestionController> Driver<C> {
    pub fn new(controller: C) -> Self {
        let now = NoopClock.get_time() + Duration::from_secs(10);
        Self {
            controller,
            now,
            sent: Vec::new(),
            largest_acked: None,
            rtt: RttEstimator::default(),
        }
    }

    pub fn wait_ms(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// Sends `pkts` full packets 1 ms apart.
    pub fn send(&mut self, pkts: usize) {
        for _ in 0..pkts {
            self.send_one(MTU, Some(false));
            self.wait_ms(1);
        }
    }

    pub fn send_one(&mut self, bytes: usize, app_limited: Option<bool>) {
        let info =
            self.controller.on_packet_sent(self.now, bytes, app_limited, &self.rtt, &mut Unheard);
        self.sent.push(Sent { at: self.now, bytes, info, is_open: true });
    }

    pub fn ack(&mut self, numbers: impl IntoIterator<Item = usize>) {
        self.ack_losing(numbers, []);
    }

    /// An ACK of these open packets, which declares others lost: the round-trip time, the losses,
    /// the packets.
    pub fn ack_losing(
        &mut self,
        acked: impl IntoIterator<Item = usize>,
        lost: impl IntoIterator<Item = usize>,
    ) {
        self.ack_with(acked, lost, 0);
    }

    /// The same with `marks` more congestion marks (ECN).
    pub fn ack_with(
        &mut self,
        acked: impl IntoIterator<Item = usize>,
        lost: impl IntoIterator<Item = usize>,
        marks: u64,
    ) {
        let acked: Vec<usize> = acked.into_iter().collect();
        let bytes: usize = acked.iter().map(|number| self.sent[*number].bytes).sum();
        let newest = acked.last().copied().filter(|_| bytes > 0);
        if let Some(newest) =
            newest.filter(|newest| self.largest_acked.is_none_or(|largest| *newest > largest))
        {
            self.tell_rtt(newest);
        }
        acked.iter().for_each(|number| _ = self.close(*number));
        self.lose(lost, false);
        if marks > 0 {
            self.controller.on_explicit_congestion(marks, self.now, &mut Unheard);
        }
        if let Some(newest) = newest.map(|newest| self.sent[newest]) {
            let random = &mut Zeros;
            let now = self.now;
            self.controller.on_ack(
                newest.at,
                bytes,
                newest.info,
                &self.rtt,
                random,
                now,
                &mut Unheard,
            );
        }
    }

    /// The first call of an ACK whose largest packet is `newest`.
    pub fn tell_rtt(&mut self, newest: usize) {
        self.largest_acked = Some(newest);
        let sent = self.sent[newest].at;
        let now = self.now;
        self.rtt.update_rtt(
            Duration::ZERO,
            now - sent,
            now,
            true,
            PacketNumberSpace::ApplicationData,
        );
        self.controller.on_rtt_update(sent, now, &self.rtt, &mut Unheard);
    }

    /// Declares these packets lost, one by one, outside an ACK if called by itself.
    pub fn lose(&mut self, numbers: impl IntoIterator<Item = usize>, persistent: bool) {
        let mut before = None;
        for number in numbers {
            let lost = self.close(number);
            let new_burst = before.is_none_or(|before| before + 1 != number);
            before = Some(number);
            if lost.bytes > 0 {
                let bytes = lost.bytes as u32;
                let random = &mut Zeros;
                let now = self.now;
                self.controller.on_packet_lost(
                    bytes,
                    lost.info,
                    persistent,
                    new_burst,
                    random,
                    now,
                    &mut Unheard,
                );
            }
        }
    }

    /// A packet whose fate is of no interest: a lost probe of the MTU, or one of a discarded packet
    /// number space.
    pub fn discard(&mut self, number: usize) {
        let packet = self.close(number);
        self.controller.on_packet_discarded(packet.bytes, &mut Unheard);
    }

    pub fn mark(&mut self) {
        self.controller.on_explicit_congestion(1, self.now, &mut Unheard);
    }

    pub fn update_mtu(&mut self, mtu: u16) {
        self.controller.on_mtu_update(mtu, &mut Unheard);
    }

    fn close(&mut self, number: usize) -> Sent<C::PacketInfo> {
        let packet = &mut self.sent[number];
        assert!(packet.is_open, "{number} is settled already");
        packet.is_open = false;
        *packet
    }

    /// The packets that are neither acknowledged nor lost, the oldest first.
    pub fn open(&self) -> impl Iterator<Item = usize> + '_ {
        self.sent.iter().enumerate().filter(|(_, packet)| packet.is_open).map(|(number, _)| number)
    }

    pub fn open_bytes(&self) -> usize {
        self.sent.iter().filter(|packet| packet.is_open).map(|packet| packet.bytes).sum()
    }

    pub fn largest_acked(&self) -> Option<usize> {
        self.largest_acked
    }

    pub fn rtt_of(&self, number: usize) -> Duration {
        self.now - self.sent[number].at
    }

    pub fn window(&self) -> u32 {
        self.controller.congestion_window()
    }
}

struct Unheard;

impl Publisher for Unheard {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}
    fn on_delivery_rate_sampled(&mut self, _: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

struct Zeros;

impl Generator for Zeros {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0);
    }
    fn private_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0);
    }
}

impl Scripted {
    /// An endpoint without caps.
    pub fn endpoint(&self) -> LossTolerant {
        let endpoint = LossTolerant::new(AnyAlgorithm::boxed(self.clone())).expect("needs nothing");
        endpoint.with_caps(NO_CAPS).expect("in range")
    }
}

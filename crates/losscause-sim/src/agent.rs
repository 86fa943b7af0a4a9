//! The sender and receiver of a flow, for every protocol.

use losscause::{self, AnyAlgorithm, AsTold, AtSender, Differentiator, Time};
use losscause_transport::{tcp, tfrc};

use crate::ledger::{Judge, Watch};
use crate::optional_lda::{OptionalAlgorithm, OptionalDifferentiator};
use crate::oracle::Oracle;
use crate::packet::{Packet, Payload, Pool};
use crate::rng::Stream;
use crate::topology::FlowProblem;
use crate::topology::{FlowSpec, TcpLda, Traffic};
use crate::trace::{EventKind, Recorder};
use crate::traffic::{Cbr, MediaSource, OnOff, Poisson};

/// The sending end.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // One per flow; a pointer would cost time per packet.
#[repr(u8, align(64))] // The tag is a byte of its own, because every packet reads it.
pub(crate) enum Sender {
    Tcp(tcp::Sender<OptionalAlgorithm>),
    Tfrc(tfrc::Sender),
    Cbr(Cbr),
    OnOff(OnOff),
    Poisson(Poisson),
    Media(Box<MediaSource>),
}

/// The receiving end.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // As above.
#[repr(u8, align(64))] // As above.
pub(crate) enum Receiver {
    Tcp(tcp::Receiver<OptionalDifferentiator>),
    Tfrc(tfrc::Receiver<AnyAlgorithm>),
    /// Receives packets of a source without feedback. The last link counts them.
    Sink,
    /// Judges the losses of a source without feedback.
    Media(Box<Differentiator<AnyAlgorithm>>),
}

/// Both ends of a flow. Random streams are derived from the flow's name.
pub(crate) fn ends(flow: &FlowSpec, seed: u64) -> Result<(Sender, Receiver), FlowProblem> {
    let stream = |purpose| Stream::new(seed, &format!("flow/{}/{purpose}", flow.name));
    Ok(match &flow.traffic {
        Traffic::Tcp { config, lda } => {
            let tick_offset = stream("tick").span_below(config.quirks.tick);
            let quirks = tcp::Quirks { tick_offset, ..config.quirks };
            let random_seed = stream("tcp").below(u64::MAX);
            let limit_pkts = flow.application.map_or(config.limit_pkts, |_| Some(0));
            let config = tcp::Config { quirks, random_seed, limit_pkts, ..*config };
            let (sender_lda, differentiator) = match lda {
                TcpLda::None => (None, None),
                TcpLda::Sender(lda) => (Some(lda.clone()), None),
                TcpLda::Receiver { lda, heeded } => {
                    let as_told = AnyAlgorithm::AsTold(AsTold);
                    (heeded.then_some(as_told), Some(Differentiator::new(lda.clone())))
                }
            };
            let sender = tcp::Sender::with_lda(
                &config,
                OptionalAlgorithm(sender_lda.map(|lda| Box::new(AtSender::new(lda)))),
            );
            let receiver = tcp::Receiver::with_lda(
                &config,
                OptionalDifferentiator(differentiator.map(Box::new)),
            );
            (
                Sender::Tcp(sender.map_err(FlowProblem::Tcp)?),
                Receiver::Tcp(receiver.map_err(FlowProblem::Tcp)?),
            )
        }
        Traffic::Tfrc { config, lda } => {
            let receiver = tfrc::Receiver::new(config, lda.clone());
            (Sender::Tfrc(tfrc::Sender::new(config)), Receiver::Tfrc(receiver))
        }
        Traffic::Cbr { rate_bps, packet_bytes, lda } => {
            let source = Cbr::new(*rate_bps, *packet_bytes);
            match lda {
                None => (Sender::Cbr(source), Receiver::Sink),
                Some(lda) => judged(MediaSource::Cbr(source), lda),
            }
        }
        Traffic::OnOff { rate_bps, packet_bytes, mean_on, mean_off, lengths, lda } => {
            let source = OnOff::new(
                *rate_bps,
                *packet_bytes,
                (*mean_on, *mean_off),
                *lengths,
                stream("traffic"),
            );
            match lda {
                None => (Sender::OnOff(source), Receiver::Sink),
                Some(lda) => judged(MediaSource::OnOff(source), lda),
            }
        }
        Traffic::Poisson { rate_bps, packet_bytes, lda } => {
            let source = Poisson::new(*rate_bps, *packet_bytes, stream("traffic"));
            match lda {
                None => (Sender::Poisson(source), Receiver::Sink),
                Some(lda) => judged(MediaSource::Poisson(source), lda),
            }
        }
    })
}

/// Both ends of a source whose losses `lda` judges.
fn judged(source: MediaSource, lda: &AnyAlgorithm) -> (Sender, Receiver) {
    (Sender::Media(Box::new(source)), Receiver::Media(Box::new(Differentiator::new(lda.clone()))))
}

impl Sender {
    pub(crate) fn start(&mut self, now: Time) {
        match self {
            Sender::Tcp(sender) => sender.start(now),
            Sender::Tfrc(sender) => sender.start(now),
            Sender::Cbr(source) => source.start(now),
            Sender::OnOff(source) => source.start(now),
            Sender::Poisson(source) => source.start(now),
            Sender::Media(source) => source.start(now),
        }
    }

    #[inline]
    pub(crate) fn on_message<R: Recorder>(
        &mut self,
        now: Time,
        message: &Payload,
        watch: &mut Watch<'_, R>,
    ) {
        match (self, message) {
            (Sender::Tcp(sender), Payload::Ack(ack)) => sender.on_ack(now, ack, watch),
            (Sender::Tfrc(sender), Payload::Feedback(feedback)) => {
                sender.on_feedback(now, feedback);
            }
            // A flow's receiver uses its sender's protocol.
            _ => debug_assert!(false, "a sender received {message:?}"),
        }
    }

    #[inline]
    pub(crate) fn on_timeout<R: Recorder>(&mut self, now: Time, watch: &mut Watch<'_, R>) {
        match self {
            Sender::Tcp(sender) => sender.on_timeout(now, watch),
            Sender::Tfrc(sender) => sender.on_timeout(now),
            Sender::Cbr(_) | Sender::OnOff(_) | Sender::Poisson(_) | Sender::Media(_) => {}
        }
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        match self {
            Sender::Tcp(sender) => sender.poll_timeout(),
            Sender::Tfrc(sender) => sender.poll_timeout(),
            Sender::Cbr(source) => source.poll_timeout(),
            Sender::OnOff(source) => source.poll_timeout(),
            Sender::Poisson(source) => source.poll_timeout(),
            Sender::Media(source) => source.poll_timeout(),
        }
    }

    /// The next packet to send now, at its first hop; call until none.
    #[inline(always)]
    pub(crate) fn poll_transmit(&mut self, now: Time, hop: u32, pool: &mut Pool) -> Option<Packet> {
        Some(match self {
            Sender::Tcp(sender) => pool.insert(Payload::Segment(sender.poll_transmit(now)?), hop),
            Sender::Tfrc(sender) => pool.insert(Payload::Data(sender.poll_transmit(now)?), hop),
            Sender::Cbr(source) => pool.insert_datagram(source.poll_transmit(now)?, hop),
            Sender::OnOff(source) => pool.insert_datagram(source.poll_transmit(now)?, hop),
            Sender::Poisson(source) => pool.insert_datagram(source.poll_transmit(now)?, hop),
            Sender::Media(source) => pool.insert(Payload::Media(source.poll_transmit(now)?), hop),
        })
    }

    /// The application hands over packets. Only TCP has an application.
    pub(crate) fn hand_over(&mut self, now: Time, pkts: u64) {
        if let Sender::Tcp(sender) = self {
            sender.hand_over(now, pkts);
        }
    }

    /// Whether a TCP connection is open: all of what was sent before the application's data is
    /// acknowledged.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Sender::Tcp(sender) if sender.is_finished())
    }

    /// The window or rate, for a trace; none for sources that have neither.
    pub(crate) fn sample(&self) -> Option<EventKind> {
        match self {
            Sender::Tcp(sender) => Some(EventKind::Cwnd(sender.cwnd())),
            Sender::Tfrc(sender) => Some(EventKind::Rate(sender.rate())),
            Sender::Cbr(_) | Sender::OnOff(_) | Sender::Poisson(_) | Sender::Media(_) => None,
        }
    }

    pub(crate) fn tcp_stats(&self) -> Option<tcp::Stats> {
        match self {
            Sender::Tcp(sender) => Some(sender.stats()),
            _ => None,
        }
    }

    /// Whether a TCP or TFRC sender has been in slow start only; none for other senders.
    pub(crate) fn in_slow_start(&self) -> Option<bool> {
        match self {
            Sender::Tcp(sender) => {
                let tcp::Stats { fast_retransmits, timeouts, ecn_reductions, .. } = sender.stats();
                Some(
                    fast_retransmits + timeouts + ecn_reductions == 0
                        && sender.cwnd() < sender.ssthresh(),
                )
            }
            Sender::Tfrc(sender) => Some(sender.in_slow_start()),
            Sender::Cbr(_) | Sender::OnOff(_) | Sender::Poisson(_) | Sender::Media(_) => None,
        }
    }
}

impl Receiver {
    #[inline]
    pub(crate) fn on_message<R: Recorder>(
        &mut self,
        now: Time,
        message: &Payload,
        watch: &mut Watch<'_, R>,
    ) {
        match (self, message) {
            (Receiver::Tcp(receiver), Payload::Segment(segment)) => {
                receiver.on_segment(now, segment, watch);
            }
            (Receiver::Tfrc(receiver), Payload::Data(data)) => receiver.on_data(now, data, watch),
            (Receiver::Media(differentiator), Payload::Media(media)) => {
                let packet =
                    losscause::Packet { seq: media.seq, at: now, sent: Some(media.sent_at) };
                differentiator.on_packet(packet, watch);
            }
            // A flow's sender uses its receiver's protocol.
            _ => debug_assert!(false, "a receiver received {message:?}"),
        }
    }

    #[inline]
    pub(crate) fn on_timeout(&mut self, now: Time) {
        match self {
            Receiver::Tcp(receiver) => receiver.on_timeout(now),
            Receiver::Tfrc(receiver) => receiver.on_timeout(now),
            Receiver::Sink | Receiver::Media(_) => {}
        }
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        match self {
            Receiver::Tcp(receiver) => receiver.poll_timeout(),
            Receiver::Tfrc(receiver) => receiver.poll_timeout(),
            Receiver::Sink | Receiver::Media(_) => None,
        }
    }

    /// The next packet to send now, at its first hop; call until none.
    #[inline(always)]
    pub(crate) fn poll_transmit(&mut self, now: Time, hop: u32, pool: &mut Pool) -> Option<Packet> {
        match self {
            Receiver::Tcp(receiver) => {
                Some(pool.insert(Payload::Ack(receiver.poll_transmit(now)?), hop))
            }
            Receiver::Tfrc(receiver) => {
                Some(pool.insert(Payload::Feedback(receiver.poll_transmit(now)?), hop))
            }
            Receiver::Sink | Receiver::Media(_) => None,
        }
    }

    /// Distinct packets delivered to the application, given the packets that arrived: all senders
    /// but TCP's send every packet once.
    pub(crate) fn delivered_packets(&self, received: u64) -> u64 {
        match self {
            Receiver::Tcp(receiver) => receiver.delivered_packets(),
            Receiver::Tfrc(_) | Receiver::Sink | Receiver::Media(_) => received,
        }
    }
}

impl Traffic {
    /// Which losses are judged.
    pub(crate) fn judge(&self) -> Judge {
        match self {
            Traffic::Tcp { lda: TcpLda::Sender(_), .. } => Judge::Sender,
            Traffic::Tcp { lda: TcpLda::Receiver { .. }, .. } | Traffic::Tfrc { .. } => {
                Judge::Receiver
            }
            Traffic::Cbr { lda: Some(_), .. }
            | Traffic::OnOff { lda: Some(_), .. }
            | Traffic::Poisson { lda: Some(_), .. } => Judge::Receiver,
            Traffic::Tcp { lda: TcpLda::None, .. }
            | Traffic::Cbr { .. }
            | Traffic::OnOff { .. }
            | Traffic::Poisson { .. } => Judge::None,
        }
    }

    /// The oracle that judges them, if one does.
    pub(crate) fn oracle(&self) -> Option<Oracle> {
        let lda = match self {
            Traffic::Tcp { lda: TcpLda::Sender(lda) | TcpLda::Receiver { lda, .. }, .. } => lda,
            Traffic::Tfrc { lda, .. } => lda,
            Traffic::Cbr { lda: Some(lda), .. }
            | Traffic::OnOff { lda: Some(lda), .. }
            | Traffic::Poisson { lda: Some(lda), .. } => lda,
            Traffic::Tcp { lda: TcpLda::None, .. }
            | Traffic::Cbr { .. }
            | Traffic::OnOff { .. }
            | Traffic::Poisson { .. } => return None,
        };
        lda.downcast_ref::<Oracle>().copied()
    }

    /// Whether the receiver looks at every packet.
    pub(crate) fn is_observed(&self) -> bool {
        match self {
            Traffic::Tcp { .. } | Traffic::Tfrc { .. } => true,
            Traffic::Cbr { lda, .. }
            | Traffic::OnOff { lda, .. }
            | Traffic::Poisson { lda, .. } => lda.is_some(),
        }
    }

    /// Whether queues may mark its packets instead of dropping them.
    pub(crate) fn supports_ecn(&self) -> bool {
        match self {
            Traffic::Tcp { config, .. } => config.ecn,
            Traffic::Tfrc { config, .. } => config.ecn,
            Traffic::Cbr { .. } | Traffic::OnOff { .. } | Traffic::Poisson { .. } => false,
        }
    }

    /// Packets after which the transfer is complete; the largest number if it is unlimited.
    pub(crate) fn size_pkts(&self) -> u64 {
        match self {
            Traffic::Tcp { config, .. } => config.limit_pkts.unwrap_or(u64::MAX),
            Traffic::Tfrc { .. }
            | Traffic::Cbr { .. }
            | Traffic::OnOff { .. }
            | Traffic::Poisson { .. } => u64::MAX,
        }
    }

    /// Payload of a full packet, bytes.
    pub(crate) fn payload_bytes(&self) -> u32 {
        match self {
            Traffic::Tcp { config, .. } => config.payload_bytes,
            Traffic::Tfrc { config, .. } => config.payload_bytes,
            Traffic::Cbr { packet_bytes, .. }
            | Traffic::OnOff { packet_bytes, .. }
            | Traffic::Poisson { packet_bytes, .. } => *packet_bytes,
        }
    }
}

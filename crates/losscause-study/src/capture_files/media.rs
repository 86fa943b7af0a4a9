//! A TFRC, CBR or on-off flow in a capture: RTP over UDP (RFC 3550).
//!
//! A data packet has its simulated size; its payload is what is left behind the headers of IPv4,
//! UDP and RTP (40 bytes). RTP's clock has 90 kHz, as for video, and shows when a packet was sent,
//! as in the simulator. (A video source gives all packets of a frame the frame's time.) TFRC's
//! reports are RTCP packets at the next higher port.

use losscause::{Span, Time};
use losscause_capture::write::{Packet, RtcpReport, Rtp, Transport};
use losscause_sim::rng::Stream;
use losscause_transport::{Ecn, tfrc};

use super::addresses::Ends;
use super::ip::{Identification, TIME_TO_LIVE, ecn_field};

/// An RTP session with one source.
#[derive(Clone, Debug)]
pub(super) struct Media {
    data: Ends,
    control: Ends,
    source: u32,
    receiver: u32,
    initial_sequence: u16,
    /// RTP timestamp of time 0.
    clock: u32,
    ids: [Identification; 2],
}

/// RFC 3551: the ports of RTP and RTCP.
const DATA_PORT: u16 = 5004;
const CONTROL_PORT: u16 = 5005;

/// The first payload type without a fixed meaning (RFC 3551, section 3).
const DYNAMIC_TYPE: u8 = 96;

/// Bytes of the headers of a data packet: IPv4, UDP, RTP.
pub(super) const HEADER_BYTES: u32 = 20 + 8 + 12;

impl Media {
    /// Flow number `flow`; `stream` draws sources, initial numbers and clocks.
    pub(super) fn new(flow: usize, stream: &mut Stream) -> Self {
        let mut number = || stream.below(1 << 32) as u32;
        let [source, receiver, clock, initial_sequence] = [(); 4].map(|()| number());
        Self {
            data: Ends::of(flow, DATA_PORT, DATA_PORT),
            control: Ends::of(flow, CONTROL_PORT, CONTROL_PORT),
            source,
            receiver,
            initial_sequence: initial_sequence as u16,
            clock,
            ids: [(); 2].map(|()| Identification::new(stream)),
        }
    }

    /// Data packet `seq` is sent.
    pub(super) fn data(&mut self, at: Time, seq: u64, wire_bytes: u32, ecn: Ecn) -> Packet {
        let rtp = Rtp {
            sequence: self.initial_sequence.wrapping_add(seq as u16),
            timestamp: self.timestamp(at),
            source: self.source,
            payload_type: DYNAMIC_TYPE,
        };
        Packet {
            source: self.data.sender,
            destination: self.data.receiver,
            id: self.ids[0].next(),
            time_to_live: TIME_TO_LIVE,
            ecn: ecn_field(ecn),
            transport: Transport::Rtp(rtp),
            payload_bytes: wire_bytes.saturating_sub(HEADER_BYTES) as u16,
        }
    }

    /// A report is sent.
    pub(super) fn report(&mut self, feedback: &tfrc::Feedback) -> Packet {
        let report = RtcpReport {
            source: self.receiver,
            echo: self.timestamp(feedback.echo),
            hold_us: micros(feedback.hold),
            // Conversions from floating point saturate.
            receive_rate: feedback.receive_rate as u32,
            loss_event_rate: (feedback.loss_event_rate * 4_294_967_296.0) as u32,
        };
        Packet {
            source: self.control.receiver,
            destination: self.control.sender,
            id: self.ids[1].next(),
            time_to_live: TIME_TO_LIVE,
            ecn: 0,
            transport: Transport::Rtcp(report),
            payload_bytes: 0,
        }
    }

    fn timestamp(&self, at: Time) -> u32 {
        let ticks = i128::from(at.as_nanos()) * 90_000 / 1_000_000_000;
        self.clock.wrapping_add(ticks as u32)
    }
}

fn micros(span: Span) -> u32 {
    u32::try_from(span.as_nanos() / 1000).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_packet_keeps_its_size_and_shows_when_it_was_sent() {
        let mut media = Media::new(0, &mut Stream::new(1, "test"));
        let mut send = |ms, seq| {
            let packet = media.data(Time::ZERO + Span::from_millis(ms), seq, 762, Ecn::NotCapable);
            let Transport::Rtp(rtp) = packet.transport else { panic!("not RTP: {packet:?}") };
            (packet.bytes(), rtp.sequence, rtp.timestamp)
        };
        let first = send(0, 0);
        let later = send(1000, 65_537);
        assert_eq!((first.0, later.0), (762, 762));
        assert_eq!(later.1.wrapping_sub(first.1), 1, "the sequence number has 16 bits");
        assert_eq!(later.2.wrapping_sub(first.2), 90_000);
    }

    #[test]
    fn a_report_echoes_the_timestamp_of_the_data() {
        let mut media = Media::new(0, &mut Stream::new(1, "test"));
        let sent_at = Time::ZERO + Span::from_millis(40);
        let data = media.data(sent_at, 3, 1000, Ecn::Capable);
        let feedback = tfrc::Feedback {
            wire_bytes: 40,
            echo: sent_at,
            hold: Span::from_micros(2500),
            receive_rate: 125_000.5,
            loss_event_rate: 0.25,
        };
        let report = media.report(&feedback);
        let (Transport::Rtp(data), Transport::Rtcp(report)) = (data.transport, report.transport)
        else {
            panic!("{data:?}, {report:?}")
        };
        assert_eq!(report.echo, data.timestamp);
        assert_eq!(
            (report.hold_us, report.receive_rate, report.loss_event_rate),
            (2500, 125_000, 1 << 30)
        );
    }
}

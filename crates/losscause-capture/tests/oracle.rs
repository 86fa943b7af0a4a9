//! Headers as etherparse writes and reads them: two readers that share no code must agree.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use etherparse::{PacketBuilder, SlicedPacket, TcpOptionElement, TransportSlice, VlanId};
use losscause::Time;
use losscause_capture::frames::Frame;
use losscause_capture::frames::LinkType;
use losscause_capture::packet::{Parsed, Tcp, Transport};
use proptest::prelude::*;

/// What a frame is made of.
#[derive(Clone, Debug)]
struct Made {
    tags: u8,
    is_v6: bool,
    ports: (u16, u16),
    seq: u32,
    ack: u32,
    window: u16,
    timestamps: Option<(u32, u32)>,
    block: Option<(u32, u32)>,
    mss: Option<u16>,
    payload: Vec<u8>,
}

prop_compose! {
    fn made()(
        tags in 0_u8..3,
        is_v6: bool,
        ports: (u16, u16),
        (seq, ack, window) in any::<(u32, u32, u16)>(),
        timestamps: Option<(u32, u32)>,
        block: Option<(u32, u32)>,
        mss: Option<u16>,
        payload in prop::collection::vec(any::<u8>(), 0..60),
    ) -> Made {
        Made { tags, is_v6, ports, seq, ack, window, timestamps, block, mss, payload }
    }
}

fn frame(made: &Made) -> Vec<u8> {
    let ethernet = PacketBuilder::ethernet2([1; 6], [2; 6]);
    let mut options = Vec::new();
    options.extend(made.mss.map(TcpOptionElement::MaximumSegmentSize));
    options.extend(made.timestamps.map(|(value, echo)| TcpOptionElement::Timestamp(value, echo)));
    options.extend(
        made.block.map(|block| TcpOptionElement::SelectiveAcknowledgement(block, [None; 3])),
    );
    let mut bytes = Vec::new();
    macro_rules! finish {
        ($builder:expr) => {{
            let builder = $builder;
            let ip = if made.is_v6 {
                builder.ipv6([7; 16], [9; 16], 64)
            } else {
                builder.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            };
            let tcp = ip.tcp(made.ports.0, made.ports.1, made.seq, made.window).ack(made.ack);
            tcp.options(&options).unwrap().write(&mut bytes, &made.payload).unwrap();
        }};
    }
    let tag = |id: u16| VlanId::try_new(id).unwrap();
    match made.tags {
        0 => finish!(ethernet),
        1 => finish!(ethernet.single_vlan(tag(5))),
        _ => finish!(ethernet.double_vlan(tag(5), tag(6))),
    }
    bytes
}

fn tcp_of(data: &[u8], original_bytes: usize) -> Option<Tcp> {
    let frame = Frame {
        number: 1,
        time: Time::ZERO,
        link: LinkType::ETHERNET,
        data,
        original_bytes: original_bytes as u32,
        direction: None,
    };
    match Parsed::of(&frame) {
        Parsed::Packet(packet) => match packet.transport {
            Transport::Tcp(tcp) => Some(tcp),
            Transport::Udp { .. } | Transport::Esp { .. } => None,
        },
        _ => None,
    }
}

proptest! {
    #[test]
    fn every_field_is_the_one_that_etherparse_wrote_and_reads(made in made()) {
        let bytes = frame(&made);
        let tcp = tcp_of(&bytes, bytes.len()).unwrap();
        let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
        let Some(TransportSlice::Tcp(theirs)) = sliced.transport else { panic!("no TCP") };
        prop_assert_eq!((tcp.seq, tcp.ack, tcp.window), (theirs.sequence_number(), theirs.acknowledgment_number(), theirs.window_size()));
        prop_assert_eq!(tcp.payload_bytes as usize, made.payload.len());
        prop_assert_eq!(tcp.options.timestamps, made.timestamps);
        prop_assert_eq!(tcp.options.mss, made.mss);
        prop_assert_eq!(tcp.options.sack_blocks().first().copied(), made.block);
    }

    #[test]
    fn a_cut_frame_gives_the_same_payload_length_or_nothing(made in made(), cut in 0_usize..200) {
        let bytes = frame(&made);
        let kept = &bytes[..cut.min(bytes.len())];
        if let Some(tcp) = tcp_of(kept, bytes.len()) {
            prop_assert_eq!(tcp.payload_bytes as usize, made.payload.len());
            let whole = tcp_of(&bytes, bytes.len()).unwrap();
            prop_assert!(tcp.options == whole.options || tcp.options.cut);
        }
    }
}

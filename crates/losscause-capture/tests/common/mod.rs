//! Packets and captures, byte by byte.
#![allow(dead_code)] // Each test file uses a part.

use losscause_capture::{Analysis, Options, analyze};

/// The analysis of a capture by all algorithms.
pub(crate) fn analysed(file: &[u8]) -> Analysis {
    analyze(file, "f", &Options::all()).unwrap()
}

/// Segment `number` of 100 bytes, from 0 on.
pub(crate) fn data(number: u32) -> Segment {
    Segment::data(1 + 100 * number, 100).at(1_000 + number, 5)
}

/// Everything before segment `number` arrived.
pub(crate) fn ack(number: u32) -> Segment {
    Segment::ack(1 + 100 * number)
}

/// A capture at the sender: the SYN is answered after 40 ms.
pub(crate) fn handshake() -> [(u64, Segment); 3] {
    let syn = Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) };
    let syn_ack = Segment { flags: SYN | ACK, seq: 0, ..Segment::ack(1) };
    [(0, syn), (40, syn_ack), (40, Segment::data(1, 0))]
}

/// A TCP segment in an IPv4 packet between 10.0.0.1:1000 and 10.0.0.2:2000.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) from_first: bool,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    pub(crate) payload: usize,
    pub(crate) window: u16,
    pub(crate) options: Vec<u8>,
}

pub(crate) const ACK: u8 = 16;
pub(crate) const SYN: u8 = 2;

impl Segment {
    pub(crate) fn data(seq: u32, payload: usize) -> Self {
        Self {
            from_first: true,
            seq,
            ack: 1,
            flags: ACK,
            payload,
            window: u16::MAX,
            options: Vec::new(),
        }
    }

    pub(crate) fn ack(ack: u32) -> Self {
        Self { from_first: false, ack, ..Self::data(1, 0) }
    }

    /// With timestamps.
    pub(crate) fn at(mut self, tsval: u32, tsecr: u32) -> Self {
        self.options.extend([1, 1, 8, 10]);
        self.options.extend(tsval.to_be_bytes());
        self.options.extend(tsecr.to_be_bytes());
        self
    }

    /// With blocks of a selective acknowledgement.
    pub(crate) fn sack(mut self, blocks: &[(u32, u32)]) -> Self {
        self.options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            self.options.extend(block.0.to_be_bytes());
            self.options.extend(block.1.to_be_bytes());
        }
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let total = 40 + self.options.len() + self.payload;
        let (src, dst) = if self.from_first {
            ([10, 0, 0, 1], [10, 0, 0, 2])
        } else {
            ([10, 0, 0, 2], [10, 0, 0, 1])
        };
        let ports: [u16; 2] = if self.from_first { [1000, 2000] } else { [2000, 1000] };
        let mut bytes = vec![0x45, 0];
        bytes.extend((total as u16).to_be_bytes());
        bytes.extend([0, 0, 0, 0, 64, 6, 0, 0]);
        bytes.extend(src);
        bytes.extend(dst);
        ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.extend([((20 + self.options.len()) / 4 * 16) as u8, self.flags]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(&self.options);
        bytes.resize(total, 0);
        bytes
    }
}

/// An RTP packet in a UDP datagram.
pub(crate) fn rtp(seq: u16, timestamp: u32, payload: usize) -> Vec<u8> {
    let total = 20 + 8 + 12 + payload;
    let mut bytes = vec![0x45, 0];
    bytes.extend((total as u16).to_be_bytes());
    bytes.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x13, 0x88, 0x13, 0x8a]);
    bytes.extend(((total - 20) as u16).to_be_bytes());
    bytes.extend([0, 0, 0x80, 96]);
    bytes.extend(seq.to_be_bytes());
    bytes.extend(timestamp.to_be_bytes());
    bytes.extend([0, 0, 0, 5]);
    bytes.resize(total, 0);
    bytes
}

/// A nanosecond pcap file of raw IP packets, each with its time in microseconds.
pub(crate) fn pcap(packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    pcap_of(101, packets)
}

pub(crate) fn pcap_of(link: u32, packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, link] {
        file.extend(word.to_le_bytes());
    }
    for (us, packet) in packets {
        let length = packet.len() as u32;
        for word in [(us / 1_000_000) as u32, (us % 1_000_000 * 1_000) as u32, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
    }
    file
}

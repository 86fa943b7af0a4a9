//! Both ends of a TCP connection, each with any messages from the other.

use losscause::{Span, Time};
use losscause_transport::Ecn;
use losscause_transport::tcp::{
    Ack, Config, Receiver, RecoveryScheme, ResponseScheme, SackBlocks, Segment, Sender, Variant,
    VegasRules,
};

use super::bytes::Bytes;

/// Messages per input: enough for recovery, and short.
const MESSAGES: usize = 256;

/// One for each value of three bits.
const VARIANTS: [Variant; 8] = [
    Variant::Reno,
    Variant::NewReno,
    Variant::Sack,
    Variant::Vegas,
    Variant::Veno,
    Variant::Cubic,
    Variant::Westwood,
    Variant::WestwoodNr,
];

/// With marks these two take the places of the last two.
const ON_MARKS: [Variant; 2] = [Variant::WestwoodVt, Variant::NewJersey];

fn config(bytes: &mut Bytes) -> Option<Config> {
    let choice = bytes.u8()?;
    let ecn = choice & 0x20 != 0;
    let number = usize::from(choice >> 2 & 7);
    let variant = if ecn && number >= 6 { ON_MARKS[number - 6] } else { VARIANTS[number] };
    let mut config = match choice & 3 {
        0 => Config::rfc().with_variant(variant),
        1 => Config::ns2().with_variant(variant),
        2 => Config::ns2_classic().with_variant(variant),
        // Linux has these three.
        _ => Config::linux().with_variant(match number % 4 {
            1 => Variant::Cubic,
            3 => Variant::Bbr,
            _ => Variant::Reno,
        }),
    };
    if choice & 0x80 != 0 {
        config.max_window_pkts = u32::from(bytes.u16()?).max(1);
    }
    config.ecn = ecn;
    if choice & 0x40 != 0 {
        config.delayed_ack = Some(Span::from_millis(100));
    }
    Some(config)
}

/// A receiver takes any segments: what it acknowledges never falls, and is no more than it was
/// sent.
pub fn tcp_receiver(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(config) = config(&mut bytes) else { return };
    let Ok(mut receiver) = Receiver::new(&config) else { return };
    let mut now = Time::ZERO;
    let mut seq = 0;
    let mut acknowledged = 0;
    for taken in 1..=MESSAGES as u64 {
        let Some((later, segment)) = segment(&mut bytes, now, seq) else { return };
        (now, seq) = (later, segment.seq);
        if receiver.poll_timeout().is_some_and(|at| at <= now) {
            receiver.on_timeout(now);
            assert!(receiver.poll_timeout().is_none(), "one expiry, one acknowledgement");
        }
        receiver.on_segment(now, &segment, &mut ());
        let acks: Vec<Ack> = std::iter::from_fn(|| receiver.poll_transmit(now)).take(2).collect();
        assert!(acks.len() <= 1, "one acknowledgement per segment");
        for ack in acks {
            assert!(ack.next >= acknowledged && ack.next <= taken);
            acknowledged = ack.next;
        }
        assert!(receiver.delivered_packets() <= receiver.received_packets());
        assert!(receiver.received_packets() <= taken);
    }
}

fn segment(bytes: &mut Bytes, now: Time, seq: u64) -> Option<(Time, Segment)> {
    let now = bytes.later(now)?;
    let seq = bytes.seq(seq)?;
    let sent_at = bytes.foreign_time(now)?;
    let flags = bytes.u8()?;
    let retransmission = flags & 1 == 1;
    let cwr = flags & 2 != 0;
    let ecn = ecn(flags >> 2);
    Some((
        now,
        Segment {
            seq,
            transmission: 0,
            sent_at,
            retransmission,
            ecn,
            cwr,
            echo_us: 0,
            payload_bytes: 1000,
            wire_bytes: 1040,
        },
    ))
}

/// A sender takes any acknowledgements: it sends no more than its window, and its timer always
/// moves on.
pub fn tcp_sender(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(config) = config(&mut bytes) else { return };
    let Ok(mut sender) = Sender::new(&config) else { return };
    let mut now = Time::ZERO;
    let mut sent = 0;
    sender.start(now);
    for _ in 0..MESSAGES {
        let mut burst = 0;
        while let Some(segment) = sender.poll_transmit(now) {
            sent = sent.max(segment.seq + 1);
            burst += 1;
            assert!(burst <= u64::from(config.max_window_pkts) + 1, "{burst} segments at once");
        }
        assert!(sender.acknowledged() <= sent);
        // ns-2's Vegas may have a window of nothing.
        let vegas_of_ns2 =
            config.recovery == RecoveryScheme::Vegas && config.quirks.vegas == VegasRules::Ns2;
        let least = if vegas_of_ns2 { 0.0 } else { 1.0 };
        assert!(sender.cwnd().is_finite() && sender.cwnd() >= least);
        let Some(later) = bytes.later(now) else { return };
        while let Some(at) = sender.poll_timeout().filter(|at| *at <= later) {
            now = now.max(at);
            sender.on_timeout(now, &mut ());
            assert!(sender.poll_timeout().is_none_or(|next| next > now), "the timer stands still");
            while let Some(segment) = sender.poll_transmit(now) {
                sent = sent.max(segment.seq + 1);
            }
        }
        now = later;
        let near = if bytes.0.first().is_some_and(|b| b & 0x80 != 0) {
            sent
        } else {
            sender.acknowledged()
        };
        let Some((next, ece)) = next(&mut bytes, near) else { return };
        let Some(sack) = reports(&mut bytes, &config, next) else { return };
        let Some(echo) = echo(&mut bytes, &config, now) else { return };
        let ack = Ack {
            next,
            echo,
            echo_of_retransmission: false,
            ece,
            wireless: ece,
            wire_bytes: 40,
            window_pkts: 0,
            sent_us: 0,
            sack,
        };
        sender.on_ack(now, &ack, &mut ());
    }
}

/// What is acknowledged, as often as not the same again; and whether it echoes a mark.
fn next(bytes: &mut Bytes, near: u64) -> Option<(u64, bool)> {
    let flags = bytes.u8()?;
    let next = if flags & 1 == 0 { near } else { bytes.seq(near)? };
    Some((next, flags & 2 != 0))
}

/// What an acknowledgement reports, where the configuration has reports.
fn reports(bytes: &mut Bytes, config: &Config, next: u64) -> Option<SackBlocks> {
    if !config.uses_sack() {
        return Some(SackBlocks::NONE);
    }
    let mut blocks = [(0, 0); 3];
    for block in blocks.iter_mut().take(usize::from(bytes.u8()? % 4)) {
        let start = bytes.seq(next)?;
        *block = (start, start.saturating_add(u64::from(bytes.u8()?)));
    }
    Some(SackBlocks::of(next, blocks))
}

/// The timestamp that it echoes, where anything looks at it.
fn echo(bytes: &mut Bytes, config: &Config, now: Time) -> Option<Time> {
    if config.response == ResponseScheme::Aimd { Some(now) } else { bytes.foreign_time(now) }
}

/// Any of the three, by the lowest bits.
pub(super) fn ecn(bits: u8) -> Ecn {
    match bits & 3 {
        0 | 1 => Ecn::NotCapable,
        2 => Ecn::Capable,
        _ => Ecn::Marked,
    }
}

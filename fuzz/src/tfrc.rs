//! Both ends of a TFRC flow, each with any messages from the other.

use losscause::{BuiltIn, End, Span, Time};
use losscause_transport::tfrc::{
    Backlog, Config, Data, Feedback, RateRule, Receiver, RtoRule, Sender, Times,
};

use super::bytes::{Bytes, Skips};

/// Messages per input: enough for several loss events, and short.
const MESSAGES: usize = 64;

/// Timers that may expire between two messages; after that the input jumps ahead, as a busy driver
/// would.
const EXPIRIES: usize = 256;

fn config(choice: u8) -> Config {
    let mut config = if choice & 1 == 0 { Config::rfc5348() } else { Config::ns2() };
    if choice & 2 != 0 {
        config.quirks.rto = RtoRule::Ticks { minimum: Span::ZERO };
    }
    config.ecn = choice & 0x80 != 0;
    config
}

/// A receiver takes any packets, whatever they say of time, and reports numbers that mean
/// something.
pub fn tfrc_receiver(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(choice) = bytes.u8() else { return };
    let algorithms: Vec<BuiltIn> = BuiltIn::at_receivers().collect();
    let algorithm = algorithms[usize::from(choice >> 2) % algorithms.len()];
    let mut receiver = Receiver::new(
        &config(choice),
        algorithm.build(End::Receiver).expect("published parameters"),
    );
    let mut now = Time::ZERO;
    let mut seq = 0;
    let mut skips = Skips::new();
    for taken in 1..=MESSAGES as u64 {
        let Some((later, data)) = data_packet(&mut bytes, now, seq) else { return };
        if !skips.take(seq, data.seq) {
            return;
        }
        for _ in 0..EXPIRIES {
            let Some(at) = receiver.poll_timeout().filter(|at| *at <= later) else { break };
            receiver.on_timeout(at.max(now));
            now = now.max(at);
            assert!(
                receiver.poll_timeout().is_none_or(|next| next > now),
                "the timer stands still"
            );
            reports(&mut receiver, now);
        }
        (now, seq) = (later, data.seq);
        receiver.on_data(now, &data, &mut ());
        reports(&mut receiver, now);
        assert!(receiver.delivered_packets() <= taken);
    }
}

fn reports(receiver: &mut Receiver<impl losscause::Algorithm>, now: Time) {
    let reports: Vec<Feedback> =
        std::iter::from_fn(|| receiver.poll_transmit(now)).take(2).collect();
    assert!(reports.len() <= 1, "one report at a time");
    for Feedback { receive_rate, loss_event_rate, hold, .. } in reports {
        assert!((0.0..=1.0).contains(&loss_event_rate), "loss event rate {loss_event_rate}");
        assert!(receive_rate.is_finite() && receive_rate >= 0.0, "receive rate {receive_rate}");
        assert!(hold >= Span::ZERO, "held for {hold}");
    }
}

fn data_packet(bytes: &mut Bytes, now: Time, seq: u64) -> Option<(Time, Data)> {
    let now = bytes.later(now)?;
    let seq = bytes.seq(seq)?;
    let sent_at = bytes.foreign_time(now)?;
    let flags = bytes.u8()?;
    let rtt = span(bytes, flags & 3)?;
    let rto = span(bytes, flags >> 2 & 3)?;
    let times = rtt.zip(rto).map(|(rtt, rto)| Times { rtt, rto });
    let round = u32::from(flags >> 4);
    let payload_bytes = if flags & 16 == 0 { 1000 } else { bytes.u32()? };
    let urgent = flags & 32 != 0;
    let ecn = super::tcp::ecn(flags >> 6);
    Some((now, Data { seq, sent_at, times, round, urgent, ecn, payload_bytes, wire_bytes: 1000 }))
}

/// None, up to 4 s, or any span at all.
fn span(bytes: &mut Bytes, kind: u8) -> Option<Option<Span>> {
    Some(match kind {
        0 => None,
        1 | 2 => Some(Span::from_nanos(i64::from(bytes.u32()?))),
        _ => Some(Span::from_nanos(bytes.i64()?)),
    })
}

/// A sender takes any reports: its rate stays a rate, its timers move on, and each sends one packet
/// at most.
pub fn tfrc_sender(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(choice) = bytes.u8() else { return };
    let mut sender = Sender::new(&config(choice));
    let mut now = Time::ZERO;
    sender.start(now);
    for _ in 0..MESSAGES {
        drain(&mut sender, now);
        let Some(later) = bytes.later(now) else { return };
        let mut still = 0;
        for _ in 0..EXPIRIES {
            let Some(at) = sender.poll_timeout().filter(|at| *at <= later) else { break };
            now = now.max(at);
            sender.on_timeout(now);
            // A silence may bring the next packet forward to this very instant.
            still =
                if sender.poll_timeout().is_some_and(|next| next <= now) { still + 1 } else { 0 };
            assert!(still < 3, "the timers stand still");
            drain(&mut sender, now);
        }
        now = later;
        match bytes.u8() {
            None => return,
            Some(0) => sender.set_backlog(now, Backlog::Packets(0)),
            Some(1) => sender.set_backlog(now, Backlog::Packets(3)),
            Some(2) => sender.set_backlog(now, Backlog::Unlimited),
            Some(_) => {
                let Some(feedback) = feedback(&mut bytes, now) else { return };
                sender.on_feedback(now, &feedback);
            }
        }
    }
}

fn drain(sender: &mut Sender, now: Time) {
    let packets = std::iter::from_fn(|| sender.poll_transmit(now)).take(4).count();
    assert!(packets <= 3, "a burst of packets");
    let rate = sender.rate();
    // ns-2's rule has no smallest rate: after a report of next to nothing, silences halve it down
    // to 0.
    let ns2 = sender.config().quirks.rate == RateRule::Ns2;
    assert!(rate > 0.0 || (ns2 && rate == 0.0), "rate {rate}");
}

fn feedback(bytes: &mut Bytes, now: Time) -> Option<Feedback> {
    let echo = bytes.foreign_time(now)?;
    let flags = bytes.u8()?;
    let hold = if flags & 1 == 0 { Span::ZERO } else { Span::from_nanos(bytes.i64()?) };
    let receive_rate = if flags & 2 == 0 { f64::from(bytes.u32()?) } else { bytes.f64()? };
    let loss_event_rate =
        if flags & 4 == 0 { f64::from(bytes.u8()?) / 255.0 } else { bytes.f64()? };
    Some(Feedback { echo, hold, receive_rate, loss_event_rate, wire_bytes: 40 })
}

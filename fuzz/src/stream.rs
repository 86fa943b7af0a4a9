//! Packets of a media stream: what is read is written again, and what comes without the key changes
//! nothing.

use losscause::Time;
use losscause_media::wire;
use losscause_media::wire::control::Control;
use losscause_media::wire::rtp::{self, MAX_SEQ};
use losscause_media::{
    Key, Receiver, ReceiverConfig, ReceiverStats, Sender, SenderConfig, SenderStats,
};

/// A data packet: any bytes, with its tag or without.
pub fn stream_data(data: &[u8]) {
    if let Some((header, payload)) = rtp::parse(data) {
        assert!(header.seq <= MAX_SEQ && payload.len() < data.len());
        let mut again = Vec::new();
        header.write(&mut again);
        again.extend(payload);
        assert_eq!(rtp::parse(&again), Some((header, payload)));
    }
    without_key(data);
}

/// A control packet: the handshake, a report, the end.
pub fn stream_control(data: &[u8]) {
    if let Some((ssrc, number, control)) = Control::parse(data) {
        let mut again = Vec::new();
        control.write(ssrc, number, &mut again);
        assert_eq!(again.len(), data.len());
        assert_eq!(Control::parse(&again), Some((ssrc, number, control)));
        if let Control::Feedback(report) = control {
            assert!((0.0..=1.0).contains(&report.loss_event_rate()));
        }
    }
    without_key(data);
}

/// Both ends ignore the packet, with the tag that it has or an empty one.
fn without_key(data: &[u8]) {
    let key = Key::from_bytes([7; 32]);
    let now = Time::from_nanos(1_000_000_000);
    let mut receiver =
        Receiver::new(&ReceiverConfig::default(), &key, &[5; 32]).expect("the defaults");
    let mut sender = Sender::new(&SenderConfig::default(), &key, [3; 16]).expect("the defaults");
    sender.start(now);
    while sender.poll_transmit(now).is_some() {}
    let before = (sender.stats(), sender.poll_timeout());
    let tagged = [data, &[0; wire::TAG_BYTES]].concat();
    for packet in [data, &tagged] {
        receiver.on_datagram(now, ([192, 0, 2, 1], 5004).into(), packet);
        sender.on_datagram(now, packet);
    }
    assert_eq!(receiver.stats(), ReceiverStats { foreign_pkts: 2, ..ReceiverStats::default() });
    assert!(receiver.poll_transmit(now).is_none() && receiver.poll_event().is_none());
    assert_eq!((SenderStats { foreign_pkts: 0, ..sender.stats() }, sender.poll_timeout()), before);
    assert_eq!(sender.poll_transmit(now), None);
}

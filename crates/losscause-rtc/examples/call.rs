//! A call over UDP: `call send ADDRESS SECONDS` sends media (zeros) at the rate of its estimator,
//! with a last word `alone` of Gcc by itself; `call receive ADDRESS` sends feedback.

use std::error::Error;
use std::io::ErrorKind::WouldBlock;
use std::net::UdpSocket;
use std::thread::sleep;
use std::time::{Duration, Instant};

use losscause_rtc::LossTolerant;
use rtc_interceptor::{
    AttributedPacket, BandwidthEstimator, CongestionControlBuilder, Gcc, Interceptor, Packet,
    RTPHeaderExtension, StreamInfo, TaggedPacket, TwccReceiverBuilder, TwccSenderBuilder,
};
use rtc_shared::TransportContext;
use rtc_shared::marshal::{Marshal, Unmarshal};
use sansio::Protocol;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // From 1 Mb/s, within 100 kb/s and 20 Mb/s.
    let gcc = Gcc::new(1e6, 1e5, 2e7);
    match words[..] {
        ["receive", address] => receive(address),
        ["send", address, seconds] => {
            let estimator = LossTolerant::recommended(gcc);
            let monitor = estimator.monitor();
            send(address, seconds.parse()?, estimator)?;
            println!("{:#?}", monitor.totals());
            Ok(())
        }
        ["send", address, seconds, "alone"] => send(address, seconds.parse()?, gcc),
        _ => Err("call receive ADDRESS, or call send ADDRESS SECONDS [alone]".into()),
    }
}

/// The one stream, as both ends would agree on it.
fn stream() -> StreamInfo {
    const TWCC: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
    let rtp_header_extensions = vec![RTPHeaderExtension { uri: TWCC.into(), id: 5 }];
    StreamInfo { ssrc: 1, clock_rate: 90_000, rtp_header_extensions, ..StreamInfo::default() }
}

fn tagged(packet: Packet) -> TaggedPacket {
    let message = AttributedPacket::new(packet);
    TaggedPacket { now: Instant::now(), transport: TransportContext::default(), message }
}

fn send(address: &str, seconds: u64, estimator: impl BandwidthEstimator) -> Outcome {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(address)?;
    socket.set_nonblocking(true)?;
    let mut numbering = TwccSenderBuilder::new().build();
    let mut control = CongestionControlBuilder::new(estimator).build();
    numbering.bind_local_stream(&stream());
    control.bind_local_stream(&stream());
    let begin = Instant::now();
    let (mut next, mut datagram) = (begin, [0; 2_048]);
    let mut media = rtc_rtp::Packet { payload: vec![0; 1_150].into(), ..Default::default() };
    media.header.ssrc = 1;
    while begin.elapsed() < Duration::from_secs(seconds) {
        while next <= Instant::now() {
            media.header.sequence_number = media.header.sequence_number.wrapping_add(1);
            numbering.handle_write(tagged(Packet::Rtp(media.clone())))?;
            while let Some(numbered) = numbering.poll_write() {
                control.handle_write(numbered)?;
            }
            while let Some(TaggedPacket { message, .. }) = control.poll_write() {
                if let Packet::Rtp(rtp) = message.packet {
                    let _full = socket.send(&rtp.marshal()?);
                }
            }
            next += Duration::from_secs_f64(9_200.0 / control.estimator().target_bitrate());
        }
        match socket.recv(&mut datagram) {
            Ok(bytes) => {
                let feedback = rtc_rtcp::packet::unmarshal(&mut &datagram[..bytes])?;
                control.handle_read(tagged(Packet::Rtcp(feedback)))?;
                while control.poll_read().is_some() {}
            }
            Err(error) if error.kind() == WouldBlock => sleep(Duration::from_micros(500)),
            Err(_not_there_yet) => sleep(Duration::from_millis(10)),
        }
    }
    println!("target: {:.2} Mb/s", control.estimator().target_bitrate() / 1e6);
    Ok(())
}

fn receive(address: &str) -> Outcome {
    let socket = UdpSocket::bind(address)?;
    socket.set_nonblocking(true)?;
    let mut feedback = TwccReceiverBuilder::new().build();
    feedback.bind_remote_stream(&stream());
    let mut datagram = [0; 2_048];
    let mut peer = None;
    loop {
        match socket.recv_from(&mut datagram) {
            Ok((bytes, from)) => {
                peer = Some(from);
                let media = rtc_rtp::Packet::unmarshal(&mut &datagram[..bytes])?;
                feedback.handle_read(tagged(Packet::Rtp(media)))?;
                while feedback.poll_read().is_some() {}
            }
            Err(error) if error.kind() == WouldBlock => sleep(Duration::from_micros(200)),
            Err(error) => return Err(error.into()),
        }
        feedback.handle_timeout(Instant::now())?;
        while let (Some(out), Some(peer)) = (feedback.poll_write(), peer) {
            if let Packet::Rtcp(packets) = out.message.packet {
                socket.send_to(&rtc_rtcp::packet::marshal(&packets)?, peer)?;
            }
        }
    }
}

//! A source whose packets carry a sender's timestamp, as RTP's do, so that an algorithm at the
//! receiver can judge the losses. It sends exactly what the source without timestamps sends.

use losscause::Time;

use super::{Cbr, OnOff, Poisson};
use crate::packet::Datagram;

/// A packet with its sending time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Media {
    pub(crate) wire_bytes: u32,
    pub(crate) seq: u64,
    pub(crate) sent_at: Time,
}

#[derive(Clone, Debug)]
pub(crate) enum MediaSource {
    Cbr(Cbr),
    OnOff(OnOff),
    Poisson(Poisson),
}

impl MediaSource {
    pub(crate) fn start(&mut self, now: Time) {
        match self {
            MediaSource::Cbr(source) => source.start(now),
            MediaSource::OnOff(source) => source.start(now),
            MediaSource::Poisson(source) => source.start(now),
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        match self {
            MediaSource::Cbr(source) => source.poll_timeout(),
            MediaSource::OnOff(source) => source.poll_timeout(),
            MediaSource::Poisson(source) => source.poll_timeout(),
        }
    }

    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Media> {
        let Datagram { seq, bytes } = match self {
            MediaSource::Cbr(source) => source.poll_transmit(now),
            MediaSource::OnOff(source) => source.poll_transmit(now),
            MediaSource::Poisson(source) => source.poll_transmit(now),
        }?;
        Some(Media { wire_bytes: bytes, seq, sent_at: now })
    }
}

//! A congestion controller that passes every call on to another one, and enters it in a
//! [`Ledger`](super::ledger::Ledger): one for each implementation of QUIC.
//!
//! It enters the number of every packet that is sent, and the beginning and end of every batch of
//! losses. The implementations' own controllers have no observers, so this is how their losses are
//! counted too.

mod noq;
mod quinn;

pub(super) use noq::RecordingFactory as NoqRecording;
pub(super) use quinn::RecordingFactory as QuinnRecording;

//! What an application hands to a sender.

/// What the application hands in: the content of one packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Media {
    /// The content, at most [`SenderConfig::media_bytes`](crate::SenderConfig::media_bytes).
    pub payload: Vec<u8>,
    /// RTP's payload type, 0 to 127; 0, the default, stands for 96, the first dynamic one.
    pub payload_type: u8,
    /// RTP's marker: the last packet of a frame.
    pub marker: bool,
    /// RTP's timestamp, in the payload format's unit; by default the time of sending at 90 kHz.
    pub media_time: Option<u32>,
}

/// A packet was not taken. `Display` is one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// As many packets wait as may.
    #[error("as many packets wait as may")]
    Full,
    /// The packet is larger than [`SenderConfig::media_bytes`](crate::SenderConfig::media_bytes).
    #[error("a packet has {bytes} bytes of media, expected at most {most}")]
    TooLarge {
        /// The packet's size, bytes.
        bytes: usize,
        /// The largest.
        most: usize,
    },
    /// The stream has ended, or is about to.
    #[error("the stream has ended")]
    Closed,
}

//! Where the algorithms stand that judge the losses of a network.

use serde::Serialize;

use crate::drawn::End;

/// Where algorithms get their observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservedAt {
    /// At the simulated senders, from acknowledgements.
    Sender,
    /// At the receivers of simulated flows of TFRC, from one-way delays.
    Receiver,
    /// In a capture at the simulated senders, as `losscause analyze` reads it.
    Capture,
    /// In captures at senders of the running kernel over the emulator. They were recorded.
    Kernel,
}

impl ObservedAt {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sender, Self::Receiver, Self::Capture, Self::Kernel];

    /// The name by which `losscause reproduce` takes it.
    pub fn item(self) -> &'static str {
        match self {
            Self::Sender => "abroad",
            Self::Receiver => "abroad/receivers",
            Self::Capture => "abroad/captures",
            Self::Kernel => "abroad/kernel",
        }
    }

    /// The end at which algorithms run.
    pub fn end(self) -> End {
        match self {
            Self::Receiver => End::Receiver,
            Self::Sender | Self::Capture | Self::Kernel => End::Sender,
        }
    }

    /// Algorithms that a table shows if none is named, besides those from outside.
    pub(crate) fn shown(self) -> [&'static str; 4] {
        match self.end() {
            End::Sender => ["Spike", "Sift", "Spike-Tobe", "Veno"],
            End::Receiver => ["Spike", "Sift", "ZigZag", "ZBS"],
        }
    }

    /// What is judged, in a sentence.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Sender => {
                "The flows are stock, and all algorithms at the sender judge the same losses."
            }
            Self::Receiver => {
                "The flows are TFRC, and all algorithms at the receiver judge the same losses."
            }
            Self::Capture => {
                "The flows are stock; all algorithms judge the losses that a capture at the sender shows."
            }
            Self::Kernel => {
                "The flows are the running kernel's over the emulator; all algorithms judge the losses that a capture \
                 at the sender shows."
            }
        }
    }
}

//! F-RTO (RFC 5682, section 3.1): whether a timeout was spurious.
//!
//! ```text
//! timeout:            the first packet is sent again                                        (step 1)
//! first new ACK:      new data is sent, nothing is repeated                                 (step 2.b)
//! then                a packet sent once before the timeout is acknowledged or reported:
//!                     spurious, the cut is undone                                           (step 3.b)
//!                     anything else is reported: the loss was real                          (step 3.a)
//! ```
//!
//! Linux (net/ipv4/tcp_input.c, `tcp_process_loss`) uses the SACK-enhanced rules, and tests 3.b on
//! every ACK after the timeout. It starts F-RTO if no recovery was under way, or if the timeout
//! repeats.
//!
//! Deviations: none.

/// The state of the test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Frto {
    /// None is under way: losses are repaired.
    #[default]
    Off,
    /// Waiting for the first ACK of new data, or for what the new data shows.
    Testing,
}

/// An ACK after a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct AfterTimeout {
    /// The ACK acknowledges or reports a packet sent once before the timeout.
    pub(super) original: bool,
    /// The ACK moves SND.UNA.
    pub(super) advances: bool,
    /// The ACK reports something, or repeats the last ACK.
    pub(super) duplicate: bool,
    /// Data was sent since the timeout that had never been sent.
    pub(super) new_data_sent: bool,
    /// Everything sent before the timeout is acknowledged.
    pub(super) recovered: bool,
    /// New data may be sent.
    pub(super) can_send: bool,
}

/// What to do after that ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The timeout was spurious: undo it.
    Undo,
    /// Send new data first.
    SendNew,
    /// Repair what is lost.
    Repair,
}

impl Frto {
    pub(super) fn on_ack(&mut self, ack: &AfterTimeout) -> Next {
        if *self == Self::Off {
            return Next::Repair;
        }
        if ack.original {
            *self = Self::Off;
            return Next::Undo;
        }
        if ack.new_data_sent {
            if ack.duplicate {
                *self = Self::Off;
            }
        } else if ack.advances && !ack.recovered {
            if ack.can_send {
                return Next::SendNew;
            }
            *self = Self::Off;
        }
        Next::Repair
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: AfterTimeout = AfterTimeout {
        original: false,
        advances: true,
        duplicate: false,
        new_data_sent: false,
        recovered: false,
        can_send: true,
    };

    #[test]
    fn the_first_new_ack_sends_new_data_and_a_report_ends_the_test() {
        let mut frto = Frto::Testing;
        assert_eq!(frto.on_ack(&NEW), Next::SendNew);
        let report = AfterTimeout { advances: false, duplicate: true, new_data_sent: true, ..NEW };
        assert_eq!(frto.on_ack(&report), Next::Repair);
        assert_eq!(frto, Frto::Off);
    }

    #[test]
    fn an_original_that_arrives_makes_the_timeout_spurious() {
        let mut frto = Frto::Testing;
        frto.on_ack(&NEW);
        assert_eq!(
            frto.on_ack(&AfterTimeout { original: true, new_data_sent: true, ..NEW }),
            Next::Undo
        );
    }

    #[test]
    fn an_ack_that_repairs_everything_asks_for_no_new_data() {
        let mut frto = Frto::Testing;
        assert_eq!(frto.on_ack(&AfterTimeout { recovered: true, ..NEW }), Next::Repair);
    }

    #[test]
    fn without_new_data_losses_are_repaired() {
        let mut frto = Frto::Testing;
        assert_eq!(frto.on_ack(&AfterTimeout { can_send: false, ..NEW }), Next::Repair);
        assert_eq!(frto, Frto::Off);
        assert_eq!(
            frto.on_ack(&AfterTimeout { original: true, ..NEW }),
            Next::Repair,
            "no test is under way"
        );
    }
}

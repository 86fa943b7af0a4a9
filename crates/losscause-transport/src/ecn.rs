//! Explicit Congestion Notification (RFC 3168): a queue marks packets where it would have dropped
//! them.

/// What a packet says about ECN (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not understand marks: queues drop the packet instead (Not-ECT).
    #[default]
    NotCapable,
    /// The transport understands marks (ECT).
    Capable,
    /// A queue marked it: congestion experienced (CE).
    Marked,
}

impl Ecn {
    /// Marks the packet, if it may be marked; whether it is marked now.
    pub fn mark(&mut self) -> bool {
        if *self == Self::NotCapable {
            return false;
        }
        *self = Self::Marked;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_capable_packet_is_marked_and_a_mark_stays() {
        for (before, marked, after) in [
            (Ecn::NotCapable, false, Ecn::NotCapable),
            (Ecn::Capable, true, Ecn::Marked),
            (Ecn::Marked, true, Ecn::Marked),
        ] {
            let mut ecn = before;
            assert_eq!((ecn.mark(), ecn), (marked, after));
        }
    }
}

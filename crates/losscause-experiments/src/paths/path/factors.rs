//! The factors of a path, and their levels.

use serde::Deserialize;

/// Declares the levels of a factor with their names in reports; in `paths.toml` the names have
/// hyphens.
macro_rules! factor {
    ($(#[$meta:meta])* $name:ident { $($(#[$level_meta:meta])* $level:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$level_meta])* $level,)+ }

        impl $name {
            /// All levels, in the order of reports.
            pub const ALL: &'static [Self] = &[$(Self::$level),+];

            /// The level's name in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$level => $text,)+ }
            }
        }
    };
}

factor! {
    /// Where the bottleneck is.
    Place {
        /// The radio link itself.
        LastHop = "last hop",
        /// A wired link before the radio.
        Backbone = "backbone",
        /// A wired link after the radio.
        BehindTheRadio = "behind the radio",
        /// A wired link and the radio.
        Two = "two bottlenecks",
    }
}

factor! {
    /// The bottleneck's queue.
    Queue {
        /// DropTail of 1.5 bandwidth-delay products.
        Deep = "DropTail, deep",
        /// DropTail of 0.15 bandwidth-delay products.
        Shallow = "DropTail, shallow",
        /// Random Early Detection.
        Red = "RED",
        /// Controlled delay.
        #[serde(rename = "codel")]
        CoDel = "CoDel",
        /// Proportional integral controller.
        Pie = "PIE",
        /// A queue per flow, each with a CoDel.
        #[serde(rename = "fq-codel")]
        FqCoDel = "FQ-CoDel",
        /// A token bucket that drops without a queue.
        Policer = "policer",
    }
}

factor! {
    /// Wireless losses.
    Loss {
        /// None.
        None = "no wireless loss",
        /// Each packet is lost independently.
        Independent = "independent losses",
        /// Losses come in bursts.
        Bursts = "bursts of losses",
    }
}

factor! {
    /// On-off traffic through the bottleneck.
    Cross {
        /// None.
        None = "no cross traffic",
        /// Exponential periods.
        Exponential = "exponential on-off",
        /// Pareto periods.
        Pareto = "Pareto on-off",
    }
}

factor! {
    /// The propagation delay.
    Delay {
        /// The delay does not vary.
        Constant = "constant delay",
        /// A random walk.
        Walk = "random walk",
        /// Steps.
        Steps = "steps of delay",
        /// A sinusoid.
        Sinusoid = "sinusoid",
    }
}

factor! {
    /// The bottleneck's rate.
    Rate {
        /// The rate does not vary.
        Constant = "constant rate",
        /// Some large steps.
        Steps = "steps of rate",
        /// Small and quick steps and outages, as in a trace of a cellular link.
        Cellular = "cellular rate",
    }
}

factor! {
    /// How ACKs come back.
    Acks {
        /// One by one.
        Plain = "plain ACKs",
        /// In batches.
        Compressed = "compressed ACKs",
    }
}

factor! {
    /// What a TCP receiver acknowledges (RFC 5681, section 4.2).
    Acknowledged {
        /// Each packet.
        Each = "an ACK per packet",
        /// Every second packet, and a single one after a while.
        Delayed = "delayed ACKs",
    }
}

factor! {
    /// How hosts take packets in.
    Host {
        /// One by one.
        ByPacket = "hosts by packet",
        /// In batches.
        Batches = "hosts in batches",
    }
}

factor! {
    /// The way back.
    Reverse {
        /// Carries only the answers.
        Idle = "way back idle",
        /// Carries a transfer as well.
        Congested = "way back congested",
    }
}

factor! {
    /// Stock TCP beside the flows.
    Beside {
        /// None.
        None = "no competitor",
        /// Reno.
        Reno = "Reno beside",
        /// CUBIC.
        Cubic = "CUBIC beside",
    }
}

factor! {
    /// What steers the transport behind which the observers stand.
    Pilot {
        /// Every loss is congestion.
        Unaware = "unaware pilot",
        /// The true cause.
        Omniscient = "omniscient pilot",
        /// Labels, right with probability 0.9 about congestion and 0.6 about wireless losses.
        Noisy = "noisy pilot",
    }
}

factor! {
    /// The TCP of a sender and its receiver, and so how it learns of losses.
    Stack {
        /// From SACK, by RFC 6675.
        Sack = "SACK",
        /// From duplicate ACKs alone (NewReno).
        Duplicates = "without SACK",
        /// As Linux 6.18 does with CUBIC: SACK and RACK, windows in bytes, delayed ACKs.
        Linux = "Linux",
    }
}

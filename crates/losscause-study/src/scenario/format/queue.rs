//! `queue` of a link: its discipline and the settings of each.

use serde::Deserialize;

use crate::scenario::expression::Quantity;

/// The queue discipline. The queue is full at `queue_packets` or `queue_bytes` in every discipline.
/// Only packets of flows with `ecn = true` are marked.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueKind {
    /// First in, first out; packets that arrive at a full queue are dropped.
    DropTail {
        /// A packet is marked if at least this many packets are waiting (1 or more; default: none
        /// is marked).
        mark_from_packets: Option<Quantity>,
        /// Refused, unless it is false: this queue marks by `mark_from_packets`.
        #[cfg_attr(feature = "schema", schemars(skip))]
        ecn: Option<bool>,
    },
    /// Random Early Detection (Floyd and Jacobson 1993): packets are dropped with a probability
    /// that rises with the average queue.
    Red {
        /// Below this average nothing is dropped, packets (default 5).
        min_th_packets: Option<Quantity>,
        /// From this average on everything is dropped, packets; more than `min_th_packets` (default
        /// 15).
        max_th_packets: Option<Quantity>,
        /// Probability of a drop as the average reaches `max_th_packets` (above 0, up to 1; default
        /// 0.1).
        max_p: Option<Quantity>,
        /// Weight of the momentary queue in the average (above 0, up to 1; default 0.002).
        w_q: Option<Quantity>,
        /// Whether the probability rises from `max_p` to 1 between `max_th_packets` and twice that,
        /// instead of jumping (default false).
        #[serde(default)]
        gentle: bool,
        /// Whether ns-2.35's rules take the place of the paper's where they differ: no drop unless
        /// two packets wait, none of the first packet in the band, idle times in whole packets
        /// (default false).
        #[serde(default)]
        like_ns2: bool,
        /// Whether packets are marked instead of dropped while the average is below
        /// `max_th_packets` (default false).
        #[serde(default)]
        ecn: bool,
        /// Size of a typical packet, bytes: an idle link's average falls once per such packet's
        /// time (default: the scenario's `packet_bytes`, else 1000).
        typical_packet_bytes: Option<Quantity>,
    },
    /// A token bucket that drops what exceeds a rate, in front of a queue that drops what finds it
    /// full.
    Policer {
        /// The rate at which the bucket fills, bits per second (above 0).
        rate_bps: Quantity,
        /// What the bucket holds, bytes (1 or more). Larger packets never pass.
        burst_bytes: Quantity,
    },
    /// Controlled delay (RFC 8289): packets are dropped at dequeue while the queueing delay stays
    /// above a target.
    #[serde(rename = "codel")]
    CoDel {
        /// The delay that a standing queue may have, milliseconds (above 0; default 5).
        target_ms: Option<Quantity>,
        /// How long the delay may stay above the target, milliseconds (the target or more; default
        /// 100).
        interval_ms: Option<Quantity>,
        /// Size of the largest packet, bytes (default 1500). Nothing is dropped while at most so
        /// many bytes wait.
        mtu_bytes: Option<Quantity>,
        /// Whether packets are marked instead of dropped (default false).
        #[serde(default)]
        ecn: bool,
    },
    /// Flow queueing with a CoDel per flow (RFC 8290): each flow has its own queue, and the queue
    /// of a flow that sends little is served first.
    #[serde(rename = "fq-codel")]
    #[serde(alias = "fq_codel")]
    FqCoDel {
        /// CoDel's target in each queue, milliseconds (above 0; default 5).
        target_ms: Option<Quantity>,
        /// CoDel's interval in each queue, milliseconds (the target or more; default 100).
        interval_ms: Option<Quantity>,
        /// While no more bytes wait in a queue, it drops nothing: the size of the largest packet
        /// (default 1500).
        mtu_bytes: Option<Quantity>,
        /// Bytes that a queue may send in a round (1 or more; default 1514).
        quantum_bytes: Option<Quantity>,
        /// Number of queues into which flows are hashed (1 to 65536; default 1024).
        queues: Option<Quantity>,
        /// Whether packets are marked instead of dropped (default false).
        #[serde(default)]
        ecn: bool,
    },
    /// Proportional integral controller enhanced (RFC 8033): packets are dropped at random on
    /// arrival; the probability rises with the queueing delay and with its growth.
    Pie {
        /// The delay that is aimed at, milliseconds (above 0; default 15).
        target_ms: Option<Quantity>,
        /// Time between two revisions of the drop probability, milliseconds (above 0; default 15).
        update_ms: Option<Quantity>,
        /// How long a burst is let in while there was no congestion, milliseconds (0 or more;
        /// default 150).
        max_burst_ms: Option<Quantity>,
        /// How much a second of delay above the target adds to the probability with each revision
        /// (0 or more; default 0.125).
        alpha: Option<Quantity>,
        /// How much a second by which the delay grew adds (0 or more; default 1.25).
        beta: Option<Quantity>,
        /// Size of a mean packet, bytes: nothing is dropped at random while no more than two of
        /// them wait (default: the scenario's `packet_bytes`, else 1000).
        mean_packet_bytes: Option<Quantity>,
        /// Whether packets are marked instead of dropped while the probability is below 10 %
        /// (default false).
        #[serde(default)]
        ecn: bool,
    },
}

impl Default for QueueKind {
    fn default() -> Self {
        Self::DropTail { mark_from_packets: None, ecn: None }
    }
}

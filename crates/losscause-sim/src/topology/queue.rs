//! The disciplines of queues, and the ranges of their settings.

use losscause::Span;

/// The discipline of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueSpec {
    /// First in, first out; a packet that finds the queue full is dropped.
    DropTail {
        /// When it is full.
        limit: Limit,
    },
    /// The same, and a packet that finds a long queue is marked (ECN).
    StepMark {
        /// When it is full.
        limit: Limit,
        /// So many waiting packets, or more, mark the one that finds them; at least 1.
        mark_from_pkts: u32,
    },
    /// Random Early Detection (Floyd and Jacobson 1993).
    Red(RedSpec),
    /// Controlled delay (RFC 8289).
    CoDel(CoDelSpec),
    /// A token bucket that drops what exceeds a rate, in front of a DropTail queue.
    Policer(PolicerSpec),
    /// Flow queueing with a CoDel per flow (RFC 8290).
    FqCoDel(FqCoDelSpec),
    /// Proportional integral controller enhanced (RFC 8033).
    Pie(PieSpec),
}

/// The most that may **wait**. The packet in transmission does not count, and a packet that finds
/// the transmitter idle never waits, so a limit of 0 is a link without a queue.
///
/// ns-2 drops when the queue *would reach* its `limit_`: `limit_` L in ns-2 is `Packets(L - 1)`
/// here, and with `queue_in_bytes_` it is `Bytes(L * mean_pktsize_ - 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(u32),
    /// So many bytes on the wire.
    Bytes(u64),
}

/// Settings of RED, by the names of Floyd and Jacobson's paper. Queues are counted in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedSpec {
    /// The limit of the queue, independent of its average.
    pub limit: Limit,
    /// Below this average nothing is dropped, packets; 0 or more.
    pub min_th_pkts: f64,
    /// From this average on everything is dropped, packets; above `min_th_pkts`. Gentle: from twice
    /// this average on.
    pub max_th_pkts: f64,
    /// The probability of a drop as the average reaches `max_th_pkts`, above 0, at most 1.
    pub max_p: f64,
    /// Weight of the momentary queue in the average, above 0, at most 1.
    pub w_q: f64,
    /// Whether the probability rises from `max_p` to 1 between `max_th_pkts` and twice that,
    /// instead of jumping (Floyd, "Recommendation on using the gentle variant of RED", 2000).
    pub gentle: bool,
    /// Whether ns-2.35's rules take the place of the paper's where they differ: no hit unless two
    /// packets wait, none for the first packet in the band, idle times in whole packets.
    pub like_ns2: bool,
    /// Whether packets whose transport understands marks are marked instead of dropped, below
    /// `max_th_pkts`.
    pub ecn: bool,
    /// Size of a typical packet, bytes, at least 1: an idle link's average falls once per such
    /// packet's transmission time.
    pub typical_packet_bytes: u32,
}

/// Settings of CoDel, by the names of RFC 8289.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDelSpec {
    /// The limit of the queue, independent of its delay.
    pub limit: Limit,
    /// The delay that a standing queue may have; positive.
    pub target: Span,
    /// How long the delay may stay above the target; at least the target.
    pub interval: Span,
    /// While no more than so many bytes wait, nothing is dropped (the size of the largest packet).
    pub mtu_bytes: u32,
    /// Whether packets whose transport understands marks are marked instead of dropped.
    pub ecn: bool,
}

/// Settings of a policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerSpec {
    /// The rate at which the bucket fills, bits per second; at least 1.
    pub rate_bps: u64,
    /// What the bucket holds, bytes on the wire; at least 1. Larger packets never pass.
    pub burst_bytes: u64,
    /// When the queue behind it is full.
    pub limit: Limit,
}

/// Settings of FQ-CoDel, by the names of RFC 8290.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCoDelSpec {
    /// The settings of CoDel in each sub-queue. Their limit is that of all sub-queues together.
    pub codel: CoDelSpec,
    /// Bytes that a sub-queue may send in a round, at least 1.
    pub quantum_bytes: u32,
    /// Sub-queues into which flows are hashed, 1 to 65,536.
    pub queues: u32,
}

/// Settings of PIE, by the names of RFC 8033.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieSpec {
    /// The limit of the queue, independent of its delay.
    pub limit: Limit,
    /// The delay that is aimed at (`QDELAY_REF`); positive.
    pub target: Span,
    /// Time between two revisions of the drop probability (`T_UPDATE`); positive.
    pub t_update: Span,
    /// For so long a burst is let in while there was no congestion (`MAX_BURST`); not negative.
    pub max_burst: Span,
    /// How much one second of delay above the target adds to the probability with every update; 0
    /// or more, finite.
    pub alpha: f64,
    /// How much one second by which the delay grew since the last update adds; 0 or more, finite.
    pub beta: f64,
    /// Size of a typical packet, bytes (`MEAN_PKTSIZE`): nothing is dropped at random while no more
    /// than two of them wait.
    pub mean_packet_bytes: u32,
    /// Whether packets whose transport understands marks are marked instead of dropped while the
    /// probability is below 10 %.
    pub ecn: bool,
}

/// How a queue is wrong.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QueueProblem {
    /// `mark_from_pkts` is 0.
    #[error("mark_from_pkts is 0, expected at least 1")]
    MarkFrom,
    /// `min_th_pkts` is negative or not a number.
    #[error("min_th is {0}, expected 0 or more")]
    MinTh(f64),
    /// `max_th_pkts` is not above `min_th_pkts`, or not finite.
    #[error("max_th is {max_th_pkts}, expected more than min_th, which is {min_th_pkts}")]
    MaxTh {
        /// What was given.
        max_th_pkts: f64,
        /// What it must be above.
        min_th_pkts: f64,
    },
    /// `max_p` is not above 0 and at most 1.
    #[error("max_p is {0}, expected more than 0 and at most 1")]
    MaxP(f64),
    /// `w_q` is not above 0 and at most 1.
    #[error("w_q is {0}, expected more than 0 and at most 1")]
    Wq(f64),
    /// `typical_packet_bytes` is 0.
    #[error("typical_packet_bytes is 0, expected at least 1")]
    TypicalPacket,
    /// A policer's `rate_bps` is 0.
    #[error("the policer's rate_bps is 0, expected at least 1")]
    PolicerRate,
    /// A policer's `burst_bytes` is 0.
    #[error("the policer's burst_bytes is 0, expected at least 1")]
    PolicerBurst,
    /// `target` is not positive.
    #[error("target is {0}, expected more than 0")]
    Target(Span),
    /// `interval` is shorter than `target`.
    #[error("interval is {interval}, expected at least the target, which is {target}")]
    Interval {
        /// What was given.
        interval: Span,
        /// What it must reach.
        target: Span,
    },
    /// `quantum_bytes` is 0.
    #[error("quantum_bytes is 0, expected at least 1")]
    Quantum,
    /// `queues` is not 1 to 65,536.
    #[error("queues is {0}, expected 1 to {most}", most = FqCoDelSpec::MOST_QUEUES)]
    Queues(u32),
    /// `t_update` is not positive.
    #[error("t_update is {0}, expected more than 0")]
    TUpdate(Span),
    /// `max_burst` is negative.
    #[error("max_burst is {0}, expected 0 or more")]
    MaxBurst(Span),
    /// `alpha` is negative or not finite.
    #[error("alpha is {0}, expected 0 or more")]
    Alpha(f64),
    /// `beta` is negative or not finite.
    #[error("beta is {0}, expected 0 or more")]
    Beta(f64),
}

impl RedSpec {
    /// The settings of the paper's simulations, with Floyd's later advice for `max_p` ("RED:
    /// Discussions of setting parameters", 1997): `min_th` 5 packets, `max_th` three times that,
    /// `max_p` 0.1, `w_q` 0.002; neither gentle nor ECN; a typical packet of 1000 bytes.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            min_th_pkts: 5.0,
            max_th_pkts: 15.0,
            max_p: 0.1,
            w_q: 0.002,
            gentle: false,
            like_ns2: false,
            ecn: false,
            typical_packet_bytes: 1000,
        }
    }
}

impl CoDelSpec {
    /// RFC 8289's settings: a target of 5 ms, an interval of 100 ms; an MTU of 1500 bytes; no ECN.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu_bytes: 1500,
            ecn: false,
        }
    }
}

impl FqCoDelSpec {
    /// The most sub-queues there may be.
    pub const MOST_QUEUES: u32 = 65_536;

    /// RFC 8290's settings: CoDel's own, a quantum of 1514 bytes, 1024 sub-queues; but no ECN.
    /// (Linux's limit is 10,240 packets.)
    pub const fn new(limit: Limit) -> Self {
        Self { codel: CoDelSpec::new(limit), quantum_bytes: 1514, queues: 1024 }
    }
}

impl PieSpec {
    /// RFC 8033's settings: a target and an update interval of 15 ms, bursts of 150 ms, `alpha`
    /// 1/8, `beta` 1 1/4; a mean packet of 1000 bytes, which the RFC leaves open; no ECN.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            target: Span::from_millis(15),
            t_update: Span::from_millis(15),
            max_burst: Span::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            mean_packet_bytes: 1000,
            ecn: false,
        }
    }
}

impl QueueSpec {
    /// When it is full.
    pub fn limit(&self) -> Limit {
        match *self {
            QueueSpec::DropTail { limit } | QueueSpec::StepMark { limit, .. } => limit,
            QueueSpec::Red(spec) => spec.limit,
            QueueSpec::CoDel(spec) | QueueSpec::FqCoDel(FqCoDelSpec { codel: spec, .. }) => {
                spec.limit
            }
            QueueSpec::Pie(spec) => spec.limit,
            QueueSpec::Policer(spec) => spec.limit,
        }
    }

    /// Whether a queue in motion can take the settings of `other`: it has the same discipline and
    /// as many sub-queues.
    pub(crate) fn can_become(&self, other: &Self) -> bool {
        match (self, other) {
            (QueueSpec::FqCoDel(this), QueueSpec::FqCoDel(other)) => this.queues == other.queues,
            (this, other) => std::mem::discriminant(this) == std::mem::discriminant(other),
        }
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting that is out of range.
    pub fn validate(&self) -> Result<(), QueueProblem> {
        match *self {
            QueueSpec::StepMark { mark_from_pkts: 0, .. } => Err(QueueProblem::MarkFrom),
            QueueSpec::DropTail { .. } | QueueSpec::StepMark { .. } => Ok(()),
            QueueSpec::Red(spec) => spec.validate(),
            QueueSpec::CoDel(spec) => spec.validate(),
            QueueSpec::Policer(spec) => spec.validate(),
            QueueSpec::FqCoDel(spec) => spec.validate(),
            QueueSpec::Pie(spec) => spec.validate(),
        }
    }
}

impl RedSpec {
    fn validate(&self) -> Result<(), QueueProblem> {
        let &RedSpec { min_th_pkts, max_th_pkts, max_p, w_q, .. } = self;
        let is_share_above_0 = |x: f64| x > 0.0 && x <= 1.0;
        if !(0.0..f64::INFINITY).contains(&min_th_pkts) {
            return Err(QueueProblem::MinTh(min_th_pkts));
        }
        if !(max_th_pkts > min_th_pkts && max_th_pkts.is_finite()) {
            return Err(QueueProblem::MaxTh { max_th_pkts, min_th_pkts });
        }
        if !is_share_above_0(max_p) {
            return Err(QueueProblem::MaxP(max_p));
        }
        if !is_share_above_0(w_q) {
            return Err(QueueProblem::Wq(w_q));
        }
        if self.typical_packet_bytes == 0 {
            return Err(QueueProblem::TypicalPacket);
        }
        Ok(())
    }
}

impl PolicerSpec {
    fn validate(&self) -> Result<(), QueueProblem> {
        match self {
            PolicerSpec { rate_bps: 0, .. } => Err(QueueProblem::PolicerRate),
            PolicerSpec { burst_bytes: 0, .. } => Err(QueueProblem::PolicerBurst),
            PolicerSpec { .. } => Ok(()),
        }
    }
}

impl CoDelSpec {
    fn validate(&self) -> Result<(), QueueProblem> {
        let &CoDelSpec { target, interval, .. } = self;
        if target <= Span::ZERO {
            return Err(QueueProblem::Target(target));
        }
        if interval < target {
            return Err(QueueProblem::Interval { interval, target });
        }
        Ok(())
    }
}

impl FqCoDelSpec {
    fn validate(&self) -> Result<(), QueueProblem> {
        self.codel.validate()?;
        if self.quantum_bytes == 0 {
            return Err(QueueProblem::Quantum);
        }
        if !(1..=Self::MOST_QUEUES).contains(&self.queues) {
            return Err(QueueProblem::Queues(self.queues));
        }
        Ok(())
    }
}

impl PieSpec {
    fn validate(&self) -> Result<(), QueueProblem> {
        let &PieSpec { target, t_update, max_burst, alpha, beta, .. } = self;
        let is_gain = |x: f64| (0.0..f64::INFINITY).contains(&x);
        if target <= Span::ZERO {
            return Err(QueueProblem::Target(target));
        }
        if t_update <= Span::ZERO {
            return Err(QueueProblem::TUpdate(t_update));
        }
        if max_burst < Span::ZERO {
            return Err(QueueProblem::MaxBurst(max_burst));
        }
        if !is_gain(alpha) {
            return Err(QueueProblem::Alpha(alpha));
        }
        if !is_gain(beta) {
            return Err(QueueProblem::Beta(beta));
        }
        Ok(())
    }
}

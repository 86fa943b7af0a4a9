//! The parts of a TCP by name: how it recovers, and what its window does.

use losscause::lda::VegasBufferConfig;

/// Which packets are sent again, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryScheme {
    /// RFC 5681: fast recovery ends with the first ACK of new data.
    Reno,
    /// Fast retransmit without fast recovery: every third duplicate ACK retransmits a packet, and cwnd is not inflated.
    FastRetransmit,
    /// RFC 6582: fast recovery ends when everything is repaired; it repairs one packet per round trip.
    NewReno,
    /// RFC 6675: fast recovery ends when everything is repaired, as fast as cwnd allows; the receiver sends SACK
    /// reports (RFC 2018).
    Sack,
    /// RFC 8985 with RFC 6937 and RFC 5682, as in Linux; sender and receiver follow Linux in everything else too.
    /// Requires [`Quirks::LINUX`](super::Quirks::LINUX) and a response of [`ResponseScheme::Aimd`] or
    /// [`ResponseScheme::Cubic`].
    RackTlp,
    /// Brakmo and Peterson 1995: every packet has its own timeout, checked on duplicate ACKs.
    Vegas,
}

/// What the window does on acknowledgements and losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseScheme {
    /// RFC 5681: one packet more per round trip, half after a loss.
    Aimd,
    /// Brakmo and Peterson 1995: the window keeps a few packets in queues.
    Vegas(VegasParameters),
    /// Fu and Liew 2003: cuts the window by a fifth if few packets are queued, else by half.
    Veno,
    /// RFC 9438: a cubic function of the time since the last loss.
    Cubic,
    /// Mascolo et al. 2001: after a loss, cwnd falls to the estimated bandwidth-delay product.
    Westwood,
    /// Koo, Mun and Choo 2007: as Westwood if the queues are full, else no cut.
    WestwoodVt(WestwoodVtParameters),
    /// Xu, Tian and Ansari 2005: on ECN marks, cwnd becomes the estimated bandwidth-delay product. Requires
    /// [`Config::ecn`](super::Config::ecn).
    NewJersey,
}

/// Thresholds of Vegas, packets in queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasParameters {
    /// Below it the window grows (ns-2 `v_alpha_`).
    pub alpha_pkts: u32,
    /// Above it the window shrinks (ns-2 `v_beta_`). At least [`VegasParameters::alpha_pkts`].
    pub beta_pkts: u32,
    /// Above it slow start ends (ns-2 `v_gamma_`).
    pub gamma_pkts: u32,
}

impl VegasParameters {
    /// The thresholds of the paper's Vegas-1,3 and of ns-2.35.
    pub const PUBLISHED: Self = Self { alpha_pkts: 1, beta_pkts: 3, gamma_pkts: 1 };
}

/// Thresholds of WestwoodVT, packets in queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WestwoodVtParameters {
    /// A loss with a smaller Delta is wireless.
    pub alpha_pkts: u32,
    /// A loss with a larger Delta is congestion. At least [`WestwoodVtParameters::alpha_pkts`].
    pub beta_pkts: u32,
}

impl WestwoodVtParameters {
    /// The paper's thresholds, for queues of 20 packets.
    pub const PUBLISHED: Self = {
        let VegasBufferConfig { alpha, beta, .. } = VegasBufferConfig::westwood_vt();
        Self { alpha_pkts: alpha as u32, beta_pkts: beta as u32 }
    };
}

//! TCP variants by name, and the settings that belong to one variant.

use serde::Deserialize;

use losscause_transport::tcp;

use super::super::super::expression::{Names, Quantity};
use super::super::super::reader::Reader;
use super::super::mirrored;
use super::Scoped;
use crate::InputError;

mirrored! {
    /// The TCPs that have a name: a recovery and a response.
    pub enum TcpVariant => tcp::Variant {
        /// Reno: one loss per window is repaired without a timeout; the window grows by a packet per round trip and is
        /// halved.
        Reno,
        /// NewReno (RFC 6582): one loss per round trip is repaired without a timeout.
        NewReno as "newreno",
        /// SACK (RFC 6675): the receiver reports what arrived, all losses of a window are repaired at once.
        Sack,
        /// Vegas: keeps a few packets in queues and looks at every packet's own timeout.
        Vegas,
        /// Veno: Reno that loses a fifth instead of half while few packets wait.
        Veno,
        /// CUBIC (RFC 9438) over SACK.
        Cubic,
        /// Westwood: Reno that falls to the estimated bandwidth-delay product.
        Westwood,
        /// Westwood over NewReno.
        WestwoodNr,
        /// WestwoodVT: WestwoodNR that cuts only if queues are full.
        WestwoodVt,
        /// New Jersey: NewReno that sets its window to the estimated bandwidth-delay product on ECN marks, and cuts
        /// for no other loss.
        NewJersey,
    }

    /// How losses are repaired.
    pub enum TcpRecovery => tcp::RecoveryScheme {
        /// Fast recovery until the first new acknowledgement (RFC 5681).
        Reno,
        /// Without fast recovery: the third duplicate acknowledgement sends a packet again, and the window stays at
        /// cwnd.
        FastRetransmit,
        /// Fast recovery until everything is repaired (RFC 6582).
        NewReno as "newreno",
        /// By what the receiver reports (RFC 6675; ns-2: Sack1).
        Sack,
        /// By every packet's own timeout.
        Vegas,
    }
}

/// What the window does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TcpResponse {
    /// Additive increase, multiplicative decrease (RFC 5681).
    Aimd,
    /// Vegas: it follows the packets in queues.
    Vegas,
    /// Veno: it loses less while few packets wait.
    Veno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// Westwood: after a loss it falls to the estimated bandwidth-delay product.
    Westwood,
    /// WestwoodVT: the same, if queues are full.
    WestwoodVt,
    /// New Jersey: on ECN marks it becomes the estimated bandwidth-delay product.
    NewJersey,
}

impl From<TcpResponse> for tcp::ResponseScheme {
    fn from(response: TcpResponse) -> Self {
        match response {
            TcpResponse::Aimd => Self::Aimd,
            TcpResponse::Vegas => Self::Vegas(tcp::VegasParameters::PUBLISHED),
            TcpResponse::Veno => Self::Veno,
            TcpResponse::Cubic => Self::Cubic,
            TcpResponse::Westwood => Self::Westwood,
            TcpResponse::WestwoodVt => Self::WestwoodVt(tcp::WestwoodVtParameters::PUBLISHED),
            TcpResponse::NewJersey => Self::NewJersey,
        }
    }
}

/// Thresholds of Vegas, packets in queues (response vegas).
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Vegas {
    /// Below it the window grows (default 1; ns-2 `v_alpha_`).
    pub alpha_pkts: Option<Quantity>,
    /// Above it the window shrinks (at least `alpha_pkts`; default 3; ns-2 `v_beta_`).
    pub beta_pkts: Option<Quantity>,
    /// Above it slow start ends (default 1; ns-2 `v_gamma_`).
    pub gamma_pkts: Option<Quantity>,
}

impl Vegas {
    /// Checks the thresholds; they go to `response` if that is Vegas.
    pub(super) fn put(
        &self,
        response: &mut tcp::ResponseScheme,
        reader: &Reader,
        names: &Names,
    ) -> Result<(), InputError> {
        let mut vegas = tcp::VegasParameters::PUBLISHED;
        for threshold in self.thresholds() {
            threshold.put(&mut vegas, reader, names)?;
        }
        if let tcp::ResponseScheme::Vegas(parameters) = response {
            *parameters = vegas;
        }
        Ok(())
    }

    pub(super) fn scoped(&self) -> impl Iterator<Item = Scoped> {
        self.thresholds().into_iter().map(|threshold| Scoped {
            key: threshold.key,
            given: threshold.given.is_some(),
            read_by: |config| matches!(config.response, tcp::ResponseScheme::Vegas(_)),
            needs: "response \"vegas\"",
        })
    }

    fn thresholds(&self) -> [Threshold<'_, tcp::VegasParameters>; 3] {
        [
            Threshold::new("tcp.vegas.alpha_pkts", &self.alpha_pkts, |vegas| &mut vegas.alpha_pkts),
            Threshold::new("tcp.vegas.beta_pkts", &self.beta_pkts, |vegas| &mut vegas.beta_pkts),
            Threshold::new("tcp.vegas.gamma_pkts", &self.gamma_pkts, |vegas| &mut vegas.gamma_pkts),
        ]
    }
}

/// Thresholds of WestwoodVT, packets in queues (response westwood-vt).
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WestwoodVt {
    /// A loss with fewer packets in queues is wireless (default 14).
    pub alpha_pkts: Option<Quantity>,
    /// A loss with more packets in queues is congestion (at least `alpha_pkts`; default 16).
    pub beta_pkts: Option<Quantity>,
}

impl WestwoodVt {
    /// Checks the thresholds; they go to `response` if that is WestwoodVT.
    pub(super) fn put(
        &self,
        response: &mut tcp::ResponseScheme,
        reader: &Reader,
        names: &Names,
    ) -> Result<(), InputError> {
        let mut vt = tcp::WestwoodVtParameters::PUBLISHED;
        for threshold in self.thresholds() {
            threshold.put(&mut vt, reader, names)?;
        }
        if let tcp::ResponseScheme::WestwoodVt(parameters) = response {
            *parameters = vt;
        }
        Ok(())
    }

    pub(super) fn scoped(&self) -> impl Iterator<Item = Scoped> {
        self.thresholds().into_iter().map(|threshold| Scoped {
            key: threshold.key,
            given: threshold.given.is_some(),
            read_by: |config| matches!(config.response, tcp::ResponseScheme::WestwoodVt(_)),
            needs: "response \"westwood-vt\"",
        })
    }

    fn thresholds(&self) -> [Threshold<'_, tcp::WestwoodVtParameters>; 2] {
        [
            Threshold::new("tcp.westwood_vt.alpha_pkts", &self.alpha_pkts, |vt| &mut vt.alpha_pkts),
            Threshold::new("tcp.westwood_vt.beta_pkts", &self.beta_pkts, |vt| &mut vt.beta_pkts),
        ]
    }
}

/// A threshold among the parameters `P` of a response, packets.
struct Threshold<'a, P> {
    key: &'static str,
    given: Option<&'a Quantity>,
    parameter: fn(&mut P) -> &mut u32,
}

impl<'a, P> Threshold<'a, P> {
    fn new(key: &'static str, given: &'a Option<Quantity>, parameter: fn(&mut P) -> &mut u32) -> Self {
        Self { key, given: given.as_ref(), parameter }
    }

    /// Replaces the parameter if the threshold is given.
    fn put(&self, parameters: &mut P, reader: &Reader, names: &Names) -> Result<(), InputError> {
        if let Some(packets) = self.given {
            *(self.parameter)(parameters) = reader.whole(self.key, packets, names, 0, MOST_PKTS)?;
        }
        Ok(())
    }
}

/// Largest threshold, packets.
const MOST_PKTS: u32 = 1_000_000;

//! TCP variants by name, and the settings that belong to one variant.

use serde::Deserialize;

use losscause_transport::tcp;

use super::Scoped;
use crate::InputError;
use crate::error::unknown;
use crate::scenario::expression::{Names, Quantity};
use crate::scenario::protocol::mirrored;
use crate::scenario::reader::Reader;

mirrored! {
    /// How losses are repaired.
    pub enum TcpRecovery => tcp::RecoveryScheme {
        /// Fast recovery until the first new acknowledgement (RFC 5681).
        Reno,
        /// Without fast recovery: the third duplicate acknowledgement sends a packet again, and the
        /// window stays at cwnd.
        FastRetransmit,
        /// Fast recovery until everything is repaired (RFC 6582).
        NewReno as "newreno",
        /// By what the receiver reports (RFC 6675; ns-2: Sack1).
        Sack,
        /// By every packet's own timeout.
        Vegas,
    }
}

/// A TCP by its name: a published one, or one that the program has registered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct TcpVariant(pub String);

/// What the window does, by its name: a published response, or that of a TCP that the program has
/// registered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct TcpResponse(pub String);

impl TcpVariant {
    /// The TCP of that name, which is the value of `key`.
    pub(crate) fn find(&self, key: &str, reader: &Reader) -> Result<tcp::Tcp, InputError> {
        let tcps = reader.context.registry().tcps();
        let known = || tcps.iter().map(|tcp| tcp.name()).collect::<Vec<_>>();
        tcps.find(&self.0).ok_or_else(|| reader.error(key, unknown(&self.0, &known())))
    }
}

impl TcpResponse {
    /// The response of that name, which is the value of `key`.
    pub(super) fn find(
        &self,
        key: &str,
        reader: &Reader,
    ) -> Result<tcp::ResponseScheme, InputError> {
        let tcps = reader.context.registry().tcps();
        let known = || tcps.responses().map(|response| response.name()).collect::<Vec<_>>();
        tcps.find_response(&self.0).ok_or_else(|| reader.error(key, unknown(&self.0, &known())))
    }
}

/// The schema of a name: those of this list, or one that a program has registered.
#[cfg(feature = "schema")]
fn names(description: &str, own: &str, known: Vec<(&str, &str)>) -> schemars::Schema {
    let known = known
        .into_iter()
        .map(|(name, summary)| serde_json::json!({ "const": name, "description": summary, "type": "string" }));
    let own = serde_json::json!({ "description": own, "type": "string" });
    let any_of: Vec<serde_json::Value> = known.chain([own]).collect();
    schemars::json_schema!({ "description": description, "anyOf": any_of })
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for TcpVariant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TcpVariant".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let known = tcp::Variant::ALL.iter().map(|variant| (variant.name(), variant.summary()));
        let description = "The TCPs that have a name: a recovery and a response.";
        names(description, "A TCP that the program has registered.", known.collect())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for TcpResponse {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TcpResponse".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let known = tcp::ResponseScheme::PUBLISHED
            .iter()
            .map(|response| (response.name(), response.summary()));
        names(
            "What the window does.",
            "That of a TCP that the program has registered.",
            known.collect(),
        )
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
    fn new(
        key: &'static str,
        given: &'a Option<Quantity>,
        parameter: fn(&mut P) -> &mut u32,
    ) -> Self {
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

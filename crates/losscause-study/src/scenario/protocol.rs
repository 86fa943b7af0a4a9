//! Settings that all TFRC flows, all TCP flows or all algorithms of a scenario share.

use schemars::JsonSchema;
use serde::Deserialize;

/// Settings of every TFRC flow.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TfrcSettings {}

/// Settings of every TCP flow.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpSettings {}

/// Settings of the loss differentiation algorithms.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LdaSettings {}

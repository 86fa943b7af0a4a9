//! Which events of a run a trace keeps.

use losscause::Time;
use losscause_sim::{Event, Network};

use crate::error::{InputError, unknown};
use crate::run::{EVENT_NAMES, event_name};

/// The events that a trace keeps: those of some flows, of some kinds, within an interval. The
/// default keeps all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// By number; none for all.
    flows: Option<Vec<u32>>,
    /// By the names of the column `event`; none for all.
    kinds: Option<Vec<&'static str>>,
    /// From the first time, up to and without the second.
    interval: Option<(Time, Time)>,
}

impl Filter {
    /// Only events of these flows of `network`. The name of a group of flows stands for all of it:
    /// `video` for `video.1`, `video.2` and so on. `option` is how an error names the list.
    ///
    /// # Errors
    /// A flow is unknown.
    pub fn flows(
        self,
        names: &[String],
        network: &Network,
        option: &str,
    ) -> Result<Self, InputError> {
        let mut flows = Vec::new();
        for name in names {
            let is_member = |flow: &str| {
                flow.strip_prefix(name.as_str()).is_some_and(|rest| match rest.strip_prefix('.') {
                    Some(number) => {
                        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
                    }
                    None => rest.is_empty(),
                })
            };
            let before = flows.len();
            flows.extend(
                (0..)
                    .zip(&network.flows)
                    .filter(|(_, flow)| is_member(&flow.name))
                    .map(|(number, _)| number),
            );
            if flows.len() == before {
                let known: Vec<&str> =
                    network.flows.iter().map(|flow| flow.name.as_str()).collect();
                return Err(InputError::option(option, unknown(name, &known)));
            }
        }
        Ok(Self { flows: Some(flows), ..self })
    }

    /// Only events of these kinds, by the names of the column `event`; `drop` stands for
    /// `queue-drop`, `corrupt` for `corrupted`. `option` is how an error names the list.
    ///
    /// # Errors
    /// A kind is unknown.
    pub fn kinds(self, names: &[String], option: &str) -> Result<Self, InputError> {
        let kind = |name: &String| {
            let name = match name.as_str() {
                "drop" => "queue-drop",
                "corrupt" => "corrupted",
                name => name,
            };
            EVENT_NAMES
                .into_iter()
                .find(|kind| *kind == name)
                .ok_or_else(|| InputError::option(option, unknown(name, &EVENT_NAMES)))
        };
        Ok(Self { kinds: Some(names.iter().map(kind).collect::<Result<_, _>>()?), ..self })
    }

    /// Only events from `from` on and before `to`.
    #[must_use]
    pub fn within(self, from: Time, to: Time) -> Self {
        Self { interval: Some((from, to)), ..self }
    }

    /// Whether the trace keeps the event.
    pub fn keeps(&self, event: &Event) -> bool {
        self.interval.is_none_or(|(from, to)| (from..to).contains(&event.at))
            && self.flows.as_ref().is_none_or(|flows| flows.contains(&event.flow.0))
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&event_name(&event.kind)))
    }
}

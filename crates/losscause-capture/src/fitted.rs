//! The fit of a flow, or why it has none, and what it leaves out.

use crate::{Fit, Flow, Protocol, Vantage};

impl Flow {
    /// The link that its sender met.
    ///
    /// # Errors
    /// If the capture does not show it: why, as the end of a sentence that begins with the flow.
    pub fn fitted(&self) -> Result<Fit, String> {
        let place = match self.vantage {
            _ if self.protocol != Protocol::Tcp => {
                return Err("is no TCP, whose acknowledgements a link is fitted to".into());
            }
            _ if self.packets == 0 => {
                return Err("has no captured data, expected both directions".into());
            }
            _ if self.one_way => {
                return Err("has no captured acknowledgement, expected both directions".into());
            }
            _ if self.is_incomplete() => {
                return Err("is not whole in the capture, expected all of its packets".into());
            }
            Vantage::Sender => {
                return self.fit.clone().ok_or_else(|| {
                    "was not seen to fill a queue, which shows a link's rate".into()
                });
            }
            Vantage::Receiver => "at its receiver",
            Vantage::Middle => "between the two ends",
            Vantage::Both => "at both ends",
            Vantage::Unknown => "at a place that does not show",
        };
        let sender = &self.src;
        Err(format!(
            "was captured {place}, expected a capture at {sender}, which alone has its round trips"
        ))
    }

    /// What a scenario of its link leaves out or takes for granted: a sentence each.
    pub fn unseen(&self) -> Vec<String> {
        let Some(fit) = &self.fit else { return Vec::new() };
        let mut unseen = Vec::new();
        if fit.policer.is_none() {
            unseen.push(
                "Traffic that was always on the link: the rate is what it left to this flow."
                    .to_owned(),
            );
        }
        if !self.situation.selective {
            unseen.push("SACK, which this flow did not use: the scenario's does.".to_owned());
        }
        if fit.others.is_some() {
            unseen.push(
                "Whether other traffic came and went, or the link's own rate changed.".to_owned(),
            );
        }
        if fit.is_path_longer {
            unseen.push("How long the path was at each time: at times it was longer, and the scenario's always has its least round trip.".to_owned());
        }
        if fit.random_loss > 0.0 {
            unseen.push("What lost packets where no queue was full: a queue that drops early, and a policer that was not told, are fitted as random loss.".to_owned());
        }
        if fit.policer.is_some() {
            unseen.push("Other connections of the two hosts, which share the policer's bucket: the scenario's transfer has it alone.".to_owned());
            unseen.push("Losses that were not the policer's.".to_owned());
        }
        let by_timer = self.lost_by_timer();
        if by_timer > 0 {
            unseen.push(format!("The delay at {by_timer} losses that only a timer showed."));
        }
        if !self.outages.is_empty() {
            unseen.push(format!("{} times without any answer are left out.", self.outages.len()));
        }
        let sending = self.pace.and_then(|pace| Some((pace.lasted_s, pace.sending?)));
        if let Some((lasted_s, sending)) = sending.filter(|(_, sending)| sending.idle_s >= 0.05) {
            let idle_s = sending.idle_s;
            unseen.push(format!(
                "Pauses of the application: it had nothing to send for {idle_s:.1} of {lasted_s:.1} s; the scenario's always has."
            ));
        }
        unseen
    }
}

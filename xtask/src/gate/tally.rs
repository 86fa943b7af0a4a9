//! How many flows of a class were named right, wrong and not at all.

use std::fmt::Write;

use losscause::diagnosis::{Cause, Certainty, Diagnosis};

use super::label::{Class, Label};

/// The flows of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    class: Class,
    pub(super) flows: u32,
    /// Flows with too few losses.
    pub(super) left_out: u32,
    right: u32,
    wrong: u32,
    /// A policer was named, clearly or likely.
    policer: [u32; 2],
    /// A rate was named, and it is right.
    rates: [u32; 2],
}

/// A rate is right if it is nearer to the true one than this share of it.
const RATE_WITHIN: f64 = 0.15;

impl Tally {
    pub(super) fn new(class: Class) -> Self {
        Self { class, flows: 0, left_out: 0, right: 0, wrong: 0, policer: [0; 2], rates: [0; 2] }
    }

    pub(super) fn count(&mut self, label: &Label, diagnosis: &Diagnosis) {
        self.flows += 1;
        if diagnosis.certainty == Certainty::CannotTell {
            return;
        }
        let is_right = self.class.is(&diagnosis.cause);
        self.right += u32::from(is_right);
        self.wrong += u32::from(!is_right);
        if let Cause::Policer { rate_bps, .. } = diagnosis.cause {
            self.policer[usize::from(diagnosis.certainty != Certainty::Clear)] += 1;
            if let (Some(named), Some(real)) = (rate_bps, label.rate_bps) {
                self.rates[0] += 1;
                self.rates[1] += u32::from((named as f64 - real).abs() <= RATE_WITHIN * real);
            }
        }
    }
}

/// The tallies as a table, and what is to be reached.
pub(super) fn table(tallies: &[Tally]) -> String {
    let mut text = String::from(
        "class     flows  right  wrong  cannot tell   policer: clear  likely   rate named  within 15 %   too few losses\n",
    );
    for tally in tallies {
        let untold = tally.flows - tally.right - tally.wrong;
        let [clear, likely] = tally.policer;
        let [named, near] = tally.rates;
        let class = format!("{:?}", tally.class);
        let (flows, left_out) = (tally.flows, tally.left_out);
        _ = writeln!(
            text,
            "{class:9} {flows:5}  {:5}  {:5}  {untold:11}   {clear:14}  {likely:6}   {named:10}  {near:11}   {left_out:14}",
            tally.right, tally.wrong
        );
    }
    let (policed, others): (Vec<&Tally>, Vec<&Tally>) = tallies.iter().partition(|tally| tally.class == Class::Policer);
    let percent = |of: &[&Tally], count: fn(&Tally) -> u32| {
        let flows: u32 = of.iter().map(|tally| tally.flows).sum();
        100.0 * f64::from(of.iter().map(|tally| count(tally)).sum::<u32>()) / f64::from(flows.max(1))
    };
    let named: u32 = tallies.iter().map(|tally| tally.right + tally.wrong).sum();
    let right: u32 = tallies.iter().map(|tally| tally.right).sum();
    let clear = |tally: &Tally| tally.policer[0];
    let told = |tally: &Tally| tally.policer[0] + tally.policer[1];
    let rows = [
        ("a named cause is right, %, at least 95", 100.0 * f64::from(right) / f64::from(named.max(1))),
        ("policers clear, %, at least 45", percent(&policed, clear)),
        ("others clearly policers, %, at most 1", percent(&others, clear)),
        ("policers clear or likely, %, at least 85", percent(&policed, told)),
        ("others clearly or likely policers, %, at most 10", percent(&others, told)),
        ("policers whose rate is within 15 %, %, at least 60", percent(&policed, |tally| tally.rates[1])),
    ];
    for (what, value) in rows {
        _ = writeln!(text, "{what}: {value:.1}");
    }
    text
}

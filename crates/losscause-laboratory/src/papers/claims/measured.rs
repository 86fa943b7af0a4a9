//! The vocabulary of predicates: reading measured means or medians, and comparing them.

use std::cell::RefCell;

use crate::papers::record::{Item, Parameters, Value};
use crate::papers::score::lookup;
use losscause_study::statistics::Interval;

/// A claim's predicate.
pub type Predicate = fn(&Measured<'_>) -> Answer;

/// Yes, no, or what was missing.
pub type Answer = Result<bool, Unmeasured>;

/// The value that a predicate needs and that was not measured, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmeasured(pub String);

/// The measured means of one paper, read by predicates.
pub struct Measured<'a> {
    items: &'a [Item],
    read: RefCell<Vec<String>>,
}

impl<'a> Measured<'a> {
    /// The means of `items`, which all belong to one paper.
    pub fn new(items: &'a [Item]) -> Self {
        Self { items, read: RefCell::default() }
    }

    /// The mean of `metric` for `system` in `scenario`, at the parameters given; in the metric's
    /// unit. A misclassification rate that exists in no run is zero: there was nothing to misjudge.
    pub fn value(
        &self,
        metric: &str,
        system: &str,
        scenario: &str,
        at: &[(&str, Value)],
    ) -> Result<f64, Unmeasured> {
        let (name, item) = self.find(metric, system, scenario, at);
        let value = match item.map(|item| item.measured) {
            Some(Some(value)) => value,
            Some(None) if matches!(metric, "M_c" | "M_w") => 0.0,
            _ => return Err(Unmeasured(name)),
        };
        self.note(format!("{name} = {}", short(value)));
        Ok(value)
    }

    /// The 95 % interval of that value: its lower and upper end. Not measured with fewer than two
    /// runs, of a median with fewer than six.
    pub fn interval(
        &self,
        metric: &str,
        system: &str,
        scenario: &str,
        at: &[(&str, Value)],
    ) -> Result<(f64, f64), Unmeasured> {
        let (name, item) = self.find(metric, system, scenario, at);
        let Some((item, Interval { low, high })) =
            item.and_then(|item| Some((item, item.interval()?)))
        else {
            return Err(Unmeasured(format!("the interval of {name}")));
        };
        let value = short(item.measured.unwrap_or_default());
        self.note(match item.ci95 {
            Some(ci95) => format!("{name} = {value} ± {}", short(ci95)),
            None => format!("{name} = {value} ({} to {})", short(low), short(high)),
        });
        Ok((low, high))
    }

    /// What the value is called in the evidence, and its item.
    fn find(
        &self,
        metric: &str,
        system: &str,
        scenario: &str,
        at: &[(&str, Value)],
    ) -> (String, Option<&'a Item>) {
        let want: Parameters =
            at.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let mut name = format!("{metric}({system}, {scenario}");
        for (key, value) in at {
            name += &format!(", {key}={value}");
        }
        name.push(')');
        (name, lookup(self.items, metric, system, scenario, &want))
    }

    fn note(&self, line: String) {
        let mut read = self.read.borrow_mut();
        if !read.contains(&line) {
            read.push(line);
        }
    }

    /// Every value that was read, in the order of reading.
    pub(super) fn evidence(self) -> String {
        self.read.into_inner().join("; ")
    }
}

/// Whether `holds` is true of every element; stops at the first that fails.
pub(super) fn all<T>(
    of: impl IntoIterator<Item = T>,
    mut holds: impl FnMut(T) -> Answer,
) -> Answer {
    for x in of {
        if !holds(x)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads one value per element.
pub(super) fn each<T>(
    of: impl IntoIterator<Item = T>,
    read: impl FnMut(T) -> Result<f64, Unmeasured>,
) -> Result<Vec<f64>, Unmeasured> {
    of.into_iter().map(read).collect()
}

/// How many elements `holds` is true of.
pub(super) fn count<T>(
    of: impl IntoIterator<Item = T>,
    mut holds: impl FnMut(T) -> Answer,
) -> Result<usize, Unmeasured> {
    let mut n = 0;
    for x in of {
        n += usize::from(holds(x)?);
    }
    Ok(n)
}

/// A mean that a predicate reads.
pub(super) type Mean = Result<f64, Unmeasured>;

/// The mean of one value per element.
pub(super) fn mean<T>(of: impl IntoIterator<Item = T>, read: impl FnMut(T) -> Mean) -> Mean {
    let values = each(of, read)?;
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

/// Whether `x` lies within `within` of `y`.
pub(super) fn close(x: f64, y: f64, within: f64) -> bool {
    (x - y).abs() <= within
}

/// Whether `x` lies within the fraction `within` of `y`.
pub(super) fn approx(x: f64, y: f64, within: f64) -> bool {
    (x - y).abs() <= within * y.abs()
}

/// The quotient x / y; NaN for y = 0, for which every comparison is false.
pub(super) fn ratio(x: f64, y: f64) -> f64 {
    if y == 0.0 { f64::NAN } else { x / y }
}

/// Whether no step falls by more than the fraction `slack` of the larger neighbour.
pub(super) fn increasing(values: &[f64], slack: f64) -> bool {
    values.windows(2).all(|w| w[1] >= w[0] - slack * w[0].abs().max(w[1].abs()))
}

/// Whether no step rises by more than the fraction `slack` of the larger neighbour.
pub(super) fn decreasing(values: &[f64], slack: f64) -> bool {
    values.windows(2).all(|w| w[1] <= w[0] + slack * w[0].abs().max(w[1].abs()))
}

/// The smallest value; infinite if there is none.
pub(super) fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest value; minus infinity if there is none.
pub(super) fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn short(value: f64) -> String {
    let digits = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_steps_down_are_forgiven_with_slack_only() {
        assert!(increasing(&[1.0, 2.0, 1.95], 0.05));
        assert!(!increasing(&[1.0, 2.0, 1.85], 0.05));
        assert!(!increasing(&[1.0, 0.999], 0.0));
        assert!(decreasing(&[2.0, 1.0, 1.05], 0.05));
        assert!(!decreasing(&[2.0, 1.0, 1.06], 0.05));
    }
}

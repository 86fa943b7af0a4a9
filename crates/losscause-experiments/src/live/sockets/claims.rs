//! What the experiment claims, each claim one predicate on measured medians, and its answer.

use losscause_laboratory::papers::claims::{Answer, Measured, Predicate, Unmeasured};
use losscause_laboratory::papers::record::{Item, Value};

use crate::live::experiment::on_all;

const BASES: [&str; 2] = ["quinn-cubic", "noq-cubic"];

/// By the claims' names in record.toml.
pub(super) const PREDICATES: &[(&str, Predicate)] = &[
    ("unchanged-goodput", |of| at_least(of, "left-alone", 0.0, 0.95, "")),
    ("three-times", |of| at_least(of, "left-alone", 0.01, 3.0, "")),
    ("near-spike", |of| at_least(of, "left-alone", 0.01, 0.8, "+Spike")),
    ("twice-when-busy", |of| at_least(of, "busy", 0.01, 2.0, "")),
    ("near-spike-when-busy", |of| at_least(of, "busy", 0.01, 0.6, "+Spike")),
    ("drops-of-cubic", |of| {
        on_all(&BASES, |base| {
            for path in ["lte", "policer"] {
                let at = [("path", Value::from(path))];
                let drops = |system: &str| of.value("queue_drops", system, "changing-path", &at);
                if drops(&recommended(base))? > 1.2 * drops(base)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }),
];

/// Whether the recommended algorithm gets so many times the goodput of its base with `judge`.
fn at_least(of: &Measured<'_>, machine: &str, loss: f64, times: f64, judge: &str) -> Answer {
    on_all(&BASES, |base| {
        let goodput = |system: &str| goodput(of, system, machine, loss);
        Ok(goodput(&recommended(base))? >= times * goodput(&format!("{base}{judge}"))?)
    })
}

fn goodput(of: &Measured<'_>, system: &str, machine: &str, loss: f64) -> Result<f64, Unmeasured> {
    let at = [("machine", Value::from(machine)), ("loss", Value::from(loss))];
    of.value("goodput", system, "one-flow", &at)
}

fn recommended(base: &str) -> String {
    format!("{base}+recommended")
}

/// Where nothing measured it: none.
pub(super) fn answer(items: &[Item]) -> Option<String> {
    let of = Measured::new(items);
    let quiet = gains(&of, "left-alone").ok();
    let busy = gains(&of, "busy").ok();
    let texts = [
        quiet.map(|gains| format!("At 1 % random loss over real sockets, {gains}.")),
        busy.map(|gains| format!("Beside a loop on every core, {gains}.")),
    ];
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

fn gains(of: &Measured<'_>, machine: &str) -> Result<String, Unmeasured> {
    let mbps = |system: &str| Ok(goodput(of, system, machine, 0.01)? / 1000.0);
    let of_base = |base: &str| {
        Ok::<_, Unmeasured>(format!(
            "{base} with the recommended algorithm gets {:.1} Mb/s, without it {:.1}",
            mbps(&recommended(base))?,
            mbps(base)?
        ))
    };
    Ok(format!("{}; {}", of_base(BASES[0])?, of_base(BASES[1])?))
}

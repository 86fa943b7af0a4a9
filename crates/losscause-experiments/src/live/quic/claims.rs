//! What the experiment claims, each claim one predicate on measured medians, and its answer in one
//! sentence.

use losscause_laboratory::papers::claims::{Answer, Measured, Predicate, Unmeasured};
use losscause_laboratory::papers::record::{Item, Value};

use crate::live::experiment::on_all;

/// The algorithm that losscause-quic recommends for quinn, the same one in every claim.
const RECOMMENDED: &str = "recommended";

const BASES: [&str; 2] = ["quinn-cubic", "quinn-newreno"];
const CUBIC: &str = BASES[0];
const WRONG: &str = "always wireless";

/// Largest difference to the base without losses of the air, percent.
const UNCHANGED_PERCENT: f64 = 3.0;

/// Most packets that an algorithm may lose to queues with the default caps, percent.
const MOST_DROPS_PERCENT: f64 = 5.0;

/// By the claims' names in record.toml.
pub(super) const PREDICATES: &[(&str, Predicate)] = &[
    ("unchanged-goodput", |of| {
        on_all(&BASES, |base| {
            let at = [("loss", Value::from(0))];
            let (least, most) =
                of.interval("goodput_of_base", &on(base, RECOMMENDED), "one-flow", &at)?;
            Ok(least >= 100.0 - UNCHANGED_PERCENT && most <= 100.0 + UNCHANGED_PERCENT)
        })
    }),
    ("same-share", |of| {
        on_all(&BASES, |base| {
            let at = [("loss", Value::from(0)), ("queue", Value::from("bdp"))];
            let (least, most) =
                of.interval("share_above_base", &on(base, RECOMMENDED), "sharing", &at)?;
            Ok(least >= -UNCHANGED_PERCENT && most <= UNCHANGED_PERCENT)
        })
    }),
    ("unharmed-competitor", |of| {
        on_all(&BASES, |base| {
            let at = [("loss", Value::from(0)), ("queue", Value::from("bdp"))];
            let (least, most) = of.interval("harm", &on(base, RECOMMENDED), "sharing", &at)?;
            Ok(least >= -UNCHANGED_PERCENT && most <= UNCHANGED_PERCENT)
        })
    }),
    ("four-times-at-1", |of| times_the_base(of, 0.01, 4.0)),
    ("four-times-at-2", |of| times_the_base(of, 0.02, 4.0)),
    ("near-the-oracle", |of| {
        let at = [("loss", Value::from(0.01)), ("queue", Value::from("bdp"))];
        Ok(of.value("goodput_of_oracle", &on(CUBIC, RECOMMENDED), "one-flow", &at)? >= 90.0)
    }),
    ("drops-near-the-oracle", |of| {
        let at = [("loss", Value::from(0.01)), ("queue", Value::from("bdp"))];
        let drops = |system: &str| of.value("queue_drops_pkts", system, "one-flow", &at);
        Ok(drops(&on(CUBIC, RECOMMENDED))? <= 1.25 * drops(&on(CUBIC, "oracle"))?)
    }),
    ("codel", |of| {
        on_all(&BASES, |base| {
            let at = [("loss", Value::from(0)), ("queue", Value::from("codel"))];
            let drops = |system: &str| of.value("queue_drops", system, "one-flow", &at);
            Ok(drops(&on(base, RECOMMENDED))? <= 1.1 * drops(base)?)
        })
    }),
    ("caps", |of| {
        on_all(&BASES, |base| {
            for loss in [0.0, 0.01, 0.02] {
                let at = [("loss", Value::from(loss)), ("queue", Value::from("bdp"))];
                if of.value("queue_drops", &on(base, WRONG), "one-flow", &at)? > MOST_DROPS_PERCENT
                {
                    return Ok(false);
                }
            }
            let at = [("loss", Value::from(0)), ("queue", Value::from("bdp"))];
            Ok(of.value("queue_drops", &on(base, WRONG), "sharing", &at)? <= MOST_DROPS_PERCENT)
        })
    }),
];

/// Where nothing measured it: none.
pub(super) fn answer(items: &[Item]) -> Option<String> {
    let of = Measured::new(items);
    sentence(&of).ok()
}

fn sentence(of: &Measured<'_>) -> Result<String, Unmeasured> {
    let at = |loss: f64| [("loss", Value::from(loss)), ("queue", Value::from("bdp"))];
    let goodput = |system: &str| of.value("goodput", system, "one-flow", &at(0.01));
    let recommended = on(CUBIC, RECOMMENDED);
    let oracle = on(CUBIC, "oracle");
    let mbps = |kbps: f64| format!("{:.1}", kbps / 1000.0);
    let gain = format!(
        "At 1 % random loss on 20 Mb/s and 40 ms, quinn's Cubic with the recommended algorithm gets {} Mb/s, without it {}, and \
         with the truth {}",
        mbps(goodput(&recommended)?),
        mbps(goodput(CUBIC)?),
        mbps(goodput(&oracle)?)
    );
    let at = [("loss", Value::from(0)), ("queue", Value::from("bdp"))];
    Ok(match of.value("harm", &recommended, "sharing", &at) {
        Ok(harm) => {
            let change = if harm >= 0.0 {
                "costs a stock Cubic beside it"
            } else {
                "leaves a stock Cubic beside it"
            };
            let more = if harm >= 0.0 { "" } else { " more" };
            format!(
                "{gain}; without random loss it {change} {:.1} %{more} of its goodput.",
                harm.abs()
            )
        }
        Err(_) => format!("{gain}."),
    })
}

fn times_the_base(of: &Measured<'_>, loss: f64, times: f64) -> Answer {
    let at = [("loss", Value::from(loss)), ("queue", Value::from("bdp"))];
    let goodput = |system: &str| of.value("goodput", system, "one-flow", &at);
    Ok(goodput(&on(CUBIC, RECOMMENDED))? >= times * goodput(CUBIC)?)
}

fn on(base: &str, judge: &str) -> String {
    format!("{base}+{judge}")
}

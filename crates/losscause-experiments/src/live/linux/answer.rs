//! The answer: what a colleague could repeat.

use losscause_laboratory::papers::record::{Item, Value};

use super::OURS;

/// How much more the best of ours carries than reno at the smallest random loss of 1 % or more, and
/// what it costs without losses; or how a queue is shared. None if neither was measured.
pub(super) fn of(items: &[Item]) -> Option<String> {
    let text: Vec<String> =
        [lossy(items), clean(items), shared(items)].into_iter().flatten().collect();
    (!text.is_empty()).then(|| text.join(" "))
}

/// The goodput of each system in the cell of `like`, but with this loss.
fn goodput<'a>(
    items: &'a [Item],
    like: &'a Item,
    loss: f64,
) -> impl Iterator<Item = (&'a str, f64)> {
    let rest = |item: &Item| {
        let mut rest = item.parameters.clone();
        rest.remove("loss");
        rest
    };
    let wanted = rest(like);
    let is_it = move |item: &&Item| {
        item.metric == "goodput"
            && item.scenario == like.scenario
            && number(item, "loss") == Some(loss)
    };
    let found = items.iter().filter(is_it).filter(move |item| rest(item) == wanted);
    found.filter_map(|item| Some((item.system.as_str(), item.measured?)))
}

fn number(item: &Item, parameter: &str) -> Option<f64> {
    item.parameters.get(parameter).and_then(Value::as_number)
}

/// Whether the item is of one flow behind the queue that the sentence need not name.
fn is_plain(item: &Item) -> bool {
    item.scenario == "one-flow" && item.parameters.get("queue") == Some(&Value::from("bdp"))
}

fn lossy(items: &[Item]) -> Option<String> {
    // The smallest random loss from 1 % on: what a bad wireless link has.
    let lossy = |item: &&Item| {
        item.metric == "goodput"
            && is_plain(item)
            && number(item, "loss").is_some_and(|loss| loss >= 0.01)
    };
    let like = items.iter().find(lossy)?;
    let loss = number(like, "loss")?;
    let all: Vec<(&str, f64)> = goodput(items, like, loss).collect();
    let reno = all.iter().find(|(system, _)| *system == "reno").map(|(_, goodput)| *goodput)?;
    let ours = all.iter().filter(|(system, _)| system.starts_with(OURS));
    let (best, most) = ours.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let rate = number(like, "rate_mbps")?;
    let rtt = number(like, "rtt_ms")?;
    let percent = loss * 100.0;
    Some(format!(
        "On {rate} Mb/s and {rtt} ms with {percent} % random loss, {best} carries {:.1} times reno's goodput ({:.1} and \
         {:.1} Mb/s).",
        most / reno,
        most / 1e3,
        reno / 1e3
    ))
}

fn clean(items: &[Item]) -> Option<String> {
    let clean = |item: &&Item| {
        item.metric == "goodput" && is_plain(item) && number(item, "loss") == Some(0.0)
    };
    let like = items.iter().find(clean)?;
    let all: Vec<(&str, f64)> = goodput(items, like, 0.0).collect();
    let reno = all.iter().find(|(system, _)| *system == "reno").map(|(_, goodput)| *goodput)?;
    let ours: Vec<f64> = all
        .iter()
        .filter(|(system, _)| system.starts_with(OURS))
        .map(|(_, goodput)| goodput / reno * 100.0)
        .collect();
    let least = ours.iter().copied().reduce(f64::min)?;
    let most = ours.iter().copied().reduce(f64::max)?;
    let many = if ours.len() == 1 {
        "it carries".to_owned()
    } else {
        format!("all {} of ours carry", ours.len())
    };
    Some(format!("Without random loss, {many} {} % of reno's.", range(least, most, 1)))
}

fn shared(items: &[Item]) -> Option<String> {
    let of = |against: &str| -> Vec<(&str, f64)> {
        let is_it = |item: &&Item| {
            item.metric == "share" && item.parameters.get("against") == Some(&Value::from(against))
        };
        items
            .iter()
            .filter(is_it)
            .filter_map(|item| Some((item.system.as_str(), item.measured?)))
            .collect()
    };
    let beside = of("reno");
    let ours: Vec<&(&str, f64)> =
        beside.iter().filter(|(system, _)| system.starts_with(OURS)).collect();
    let half = ours.iter().filter(|(_, share)| (45.0..=55.0).contains(share)).count();
    let others: Vec<String> = ours
        .iter()
        .filter(|(_, share)| !(45.0..=55.0).contains(share))
        .map(|(system, share)| format!("{system} {share:.0} %"))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    let cubic = beside.iter().find(|(system, _)| *system == "cubic");
    let cubic =
        cubic.map_or_else(String::new, |(_, share)| format!(" (cubic itself: {share:.0} %)"));
    (!ours.is_empty()).then(|| {
        format!("Beside reno, {half} of {} of ours take 45 to 55 % of the pair's goodput{others}{cubic}.", ours.len())
    })
}

/// "99.1 to 100.4", or one number if both are the same.
fn range(least: f64, most: f64, digits: usize) -> String {
    let least = format!("{least:.digits$}");
    let most = format!("{most:.digits$}");
    if least == most { least } else { format!("{least} to {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::linux::claims::tests::items;

    #[test]
    fn the_answer_names_the_best_its_multiple_and_what_it_costs() {
        let measured = items(|item| {
            (item.scenario == "one-flow" && item.metric == "goodput").then(|| {
                match (number(item, "loss").unwrap(), item.system.as_str()) {
                    (0.0, "lc_spike") => 9_504.0,
                    (0.0, _) => 9_600.0,
                    (_, "lc_cubic_spike") => 9_300.0,
                    (_, "bbr") => 9_400.0,
                    _ => 3_000.0,
                }
            })
        });
        assert_eq!(
            of(&measured).unwrap(),
            "On 10 Mb/s and 40 ms with 1 % random loss, lc_cubic_spike carries 3.1 times reno's goodput (9.3 and 3.0 \
             Mb/s). Without random loss, all 10 of ours carry 99.0 to 100.0 % of reno's."
        );
    }

    #[test]
    fn sharing_names_those_that_do_not_take_half() {
        let measured = items(|item| {
            (item.metric == "share").then_some(match item.system.as_str() {
                "lc_newreno_ff" => 81.2,
                "cubic" => 57.0,
                _ => 50.0,
            })
        });
        assert_eq!(
            of(&measured).unwrap(),
            "Beside reno, 9 of 10 of ours take 45 to 55 % of the pair's goodput; lc_newreno_ff 81 % (cubic itself: 57 %)."
        );
        assert_eq!(of(&items(|_| None)), None);
    }

    #[test]
    fn results_of_fq_codel_alone_are_not_told_as_the_plain_queues() {
        let fq_codel = |item: &Item| item.parameters["queue"] == Value::from("fq-codel");
        assert_eq!(of(&items(|item| fq_codel(item).then_some(5.0))), None);
    }
}

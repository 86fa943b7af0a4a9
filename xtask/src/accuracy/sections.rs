//! Sections of results/capture-accuracy.md: the recommendation, and the independent checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use losscause_capture::judge::trust::{Expected, Row, Share, Situation, Table};

use super::agreement::Agreement;
use super::matching::{Errors, Judged, Kind, RECOMMENDED, Tally};
use super::tshark::{Class, Classes, Mark};
use super::{Outcome, VANTAGES, Vantage};

/// By situation: the algorithm that is recommended.
pub(super) fn recommended(page: &mut String, outcomes: &[Outcome], table: &Table) {
    page.push_str(
        "## Which algorithm is recommended\n\n\
         Mean over the networks, in brackets the least and the greatest of them. Delays are steady if three quarters lie\n\
         within 10 ms above their 5th percentile.\n\n\
         | situation | recommended | M_c, % | M_w, % | if M_c counts twice |\n|---|---|--:|--:|---|\n",
    );
    for (situation, algorithms) in situations(outcomes).into_values() {
        let names = || algorithms.iter().copied();
        let Some(best) = table.recommend(situation, names()) else { continue };
        let Expected { m_c, m_w } = table.expected(situation, best).unwrap_or_default();
        let cautious = |name: &str| {
            let expected = table.expected(situation, name)?;
            Some(2.0 * expected.m_c?.mean + expected.m_w?.mean)
        };
        let twice = names()
            .filter_map(|name| Some((cautious(name)?, name)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let cell = |share: Option<Share>| {
            share.map_or("–".to_owned(), |share| {
                format!("{:.1} ({:.1} to {:.1})", share.mean, share.least, share.most)
            })
        };
        let twice = twice.map_or("–", |(_, name)| name);
        let _ =
            writeln!(page, "| {situation} | {best} | {} | {} | {twice} |", cell(m_c), cell(m_w));
    }
    page.push('\n');
}

/// The situations of the flows, with the algorithms that judged them. Those with the same row of
/// the table are one.
fn situations(outcomes: &[Outcome]) -> BTreeMap<Row, (Situation, BTreeSet<&str>)> {
    let mut situations: BTreeMap<Row, (Situation, BTreeSet<&str>)> = BTreeMap::new();
    for flow in outcomes
        .iter()
        .flat_map(|outcome| outcome.tallies.values().flatten())
        .flat_map(|tally| &tally.flows)
    {
        for row in flow.situation.rows().into_iter().take(1) {
            let (_, algorithms) =
                situations.entry(row).or_insert((flow.situation, BTreeSet::new()));
            algorithms.extend(flow.errors.keys().map(String::as_str));
        }
    }
    situations
}

/// All losses of the servers' transfers together.
pub(super) fn servers(page: &mut String, outcomes: &[Outcome], table: &Table) {
    page.push_str(
        "## A server's transfers, all losses together\n\n\
         The last six cases (10 and 2 Mb/s; 0.5, 2 and 8 %): wrong verdicts of all losses of that cause.\n\n\
         | at | algorithm | M_c, % | M_w, % |\n|---|---|--:|--:|\n",
    );
    let servers = || outcomes.iter().filter(|outcome| outcome.case.is_server());
    for vantage in VANTAGES {
        let flows = || {
            servers()
                .filter_map(|outcome| outcome.tallies.get(&vantage))
                .flatten()
                .flat_map(flows_of)
        };
        let mut pooled: BTreeMap<&str, Errors> = BTreeMap::new();
        for flow in flows() {
            let recommended = flow.recommended(table).map(|errors| (RECOMMENDED, errors));
            let others = flow.errors.iter().map(|(name, errors)| (name.as_str(), errors));
            recommended
                .into_iter()
                .chain(others)
                .for_each(|(name, errors)| pooled.entry(name).or_default().join(*errors));
        }
        for (name, errors) in &pooled {
            let cell = |kind| match errors.wrong_of(kind) {
                (_, 0) => "–".to_owned(),
                (wrong, all) => {
                    format!("{:.1} ({wrong} of {all})", 100.0 * wrong as f64 / all as f64)
                }
            };
            let m_c = cell(Kind::Congestion);
            let m_w = cell(Kind::Wireless);
            let _ = writeln!(page, "| {} | {name} | {m_c} | {m_w} |", vantage.name());
        }
    }
    page.push('\n');
}

fn flows_of(tally: &Tally) -> &[Judged] {
    &tally.flows
}

/// The verdicts beside those of the simulated receivers.
pub(super) fn agreement(page: &mut String, agreements: &[Agreement]) {
    if agreements.is_empty() {
        return;
    }
    page.push_str(
        "## The same verdicts as in the simulated receiver\n\n\
         Verdicts of the simulated receivers beside those of the analysis for the same packets. The command fails below\n\
         99 %.\n\n\
         | algorithm | network | losses judged by both | the same verdict, % |\n|---|---|--:|--:|\n",
    );
    for Agreement { algorithm, network, judged, equal } in agreements {
        let share = 100.0 * *equal as f64 / (*judged).max(1) as f64;
        let _ = writeln!(page, "| {algorithm} | {network} | {judged} | {share:.2} |");
    }
    page.push('\n');
}

/// What tshark says about the same packets.
pub(super) fn tshark(page: &mut String, classes: &Classes) {
    if classes.is_empty() {
        return;
    }
    page.push_str(
        "## Beside tshark\n\n\
         tshark's `tcp.analysis` on the TCP packets of seed 1 of every case. In a row \"no loss\", packets of the fifth\n\
         column are losses that `analyze` missed, or copies of bytes whose loss had been repaired before.\n\n\
         | at | tshark says | analyze says | packets | sent again after a true loss | why |\n|---|---|---|--:|--:|---|\n",
    );
    for ((vantage, class), (packets, lost)) in classes {
        let analyze = if class.loss { "loss" } else { "no loss" };
        let lost = if *vantage == Vantage::Sender { lost.to_string() } else { "–".to_owned() };
        let (vantage, why) = (*vantage, why(*vantage, *class));
        let at = vantage.name();
        let mark = class.tshark.name();
        let _ = writeln!(page, "| {at} | {mark} | {analyze} | {packets} | {lost} | {why} |");
    }
    page.push('\n');
}

/// The rules that make the two agree or differ.
fn why(vantage: Vantage, class: Class) -> &'static str {
    match (vantage, class.tshark, class.loss) {
        (Vantage::Sender, Mark::OutOfOrder, true) => {
            "tshark takes an old number soon after the newest one for reordering; a sender's own packets leave in order"
        }
        (_, Mark::None, true) => "a loss without tshark's mark",
        (Vantage::Sender, _, true) => "the same",
        (Vantage::Sender, Mark::LostSegment, false) => "a gap before the capture",
        (Vantage::Sender, _, false) => {
            "the copy was not needed: a duplicate SACK, an echo, an early acknowledgement or the count of duplicates says so"
        }
        (Vantage::Receiver, Mark::LostSegment, true) => "the same: a gap",
        (Vantage::Receiver, Mark::LostSegment, false) => {
            "the packets of the gap came late, so nothing was lost"
        }
        (Vantage::Receiver, Mark::SpuriousRetransmission, _) => {
            "the receiver had acknowledged it before: a duplicate"
        }
        (Vantage::Receiver, ..) => {
            "it fills a gap, whose loss was counted when it showed, or arrives again"
        }
    }
}

//! Kinds of networks abroad, as a whole: what is judged wherever observations come from and steered, and threads.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use losscause_experiments::abroad::diagnosed::CauseClass;
use losscause_experiments::abroad::in_loop::{self, SteeredRow};
use losscause_experiments::abroad::{Kind, ObservedAt, Role, Steered, Verdicts, network, verdicts};
use losscause_experiments::drawn::{Found, RunList};
use losscause_report::map_html;
use losscause_study::{Jobs, Stop, Workers, registry};

fn kinds(names: &[&str]) -> Vec<&'static Kind> {
    network::chosen(&names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
}

fn workers(jobs: usize) -> Workers {
    Workers::from(Jobs::new(jobs).unwrap())
}

fn plan(at: ObservedAt, names: &[&str], networks: u32) -> verdicts::Plan {
    let spike = ["Spike".to_owned()];
    verdicts::Plan::new(at, &registry(), &kinds(names), (1, networks), Some(&spike)).unwrap()
}

fn judged(jobs: usize) -> Verdicts {
    let plan = plan(ObservedAt::Sender, &["CoDel and radio", "random loss", "RED"], 3);
    plan.measure(&workers(jobs), None, |_, _| ()).unwrap()
}

fn judged_on(at: ObservedAt, jobs: usize) -> Verdicts {
    let plan = plan(at, &["policer", "random loss", "RED"], 2);
    plan.measure(&workers(jobs), None, |_, _| ()).unwrap()
}

fn loop_of(names: &[&str], kinds: &[&'static Kind], networks: u32) -> in_loop::Plan {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    in_loop::Plan::new(&registry(), &names, kinds, (1, networks)).unwrap()
}

fn steered(jobs: usize) -> Steered {
    let plan = loop_of(&["always congestion", "Spike"], &kinds(&["random loss", "RED"]), 2);
    plan.measure(&workers(jobs), None, |_, _| ()).unwrap()
}

/// The page and the CSV.
fn texts(found: &impl Found) -> [String; 2] {
    let shown = found.shown("");
    [map_html(&shown.page), shown.csv]
}

#[test]
fn the_constants_call_every_loss_the_same() {
    let found = judged(2);
    let row = |name: &str| found.names().iter().position(|known| *known == name).unwrap();
    let [congestion, wireless] = ["always congestion", "always wireless"].map(row);
    assert!(!found.names().contains(&"omniscient"), "it is told the truth");
    for flow in &found.flows {
        assert_eq!((flow.called_wireless[congestion], flow.found[congestion]), (0, 0));
    }
    // At a sender no rule of receivers decides about a loss in a gap that is no longer remembered.
    for shares in found.kinds.iter().map(|kind| kind.shares[wireless]) {
        for share in [shares.m_c, shares.found].into_iter().flatten() {
            assert!(share.value > 0.9, "{shares:?}");
        }
    }
    let red = &found.kinds[2];
    assert_eq!((red.kind, red.role, red.wireless_flows), ("RED", Role::HeldOut, 0));
    assert_eq!(red.shares[congestion].m_c.unwrap().value, 0.0);
    assert_eq!(red.shares[wireless].found, None, "no loss is wireless behind it");
    let lines = 1 + found.flows.len() * found.names().len();
    assert_eq!(found.shown("").csv.lines().count(), lines);
}

#[test]
fn a_kind_has_the_same_values_whatever_else_is_measured() {
    let found = judged(2);
    let plan = plan(ObservedAt::Sender, &["RED"], 3);
    let alone = plan.measure(&workers(1), None, |_, _| ()).unwrap();
    assert_eq!(alone.kinds[0], found.kinds[2]);
}

#[test]
fn a_capture_shows_most_of_the_losses_and_the_constants_judge_them() {
    let found = judged_on(ObservedAt::Capture, 2);
    let row = |name: &str| found.names().iter().position(|known| *known == name).unwrap();
    let [congestion, wireless] = ["always congestion", "always wireless"].map(row);
    for flow in &found.flows {
        let judged = flow.congestion_losses + flow.wireless_losses;
        let lost = flow.diagnosis.unwrap().lost_packets;
        // Timeouts are not judged.
        assert!(judged <= lost && 10 * judged >= 7 * lost, "{flow:?}");
        assert_eq!((flow.called_wireless[congestion], flow.found[congestion]), (0, 0));
        let called = flow.called_wireless[wireless] + flow.found[wireless];
        assert_eq!(called, judged, "{flow:?}");
    }
    // What a policer, the air and a queue lost, by the flows' true causes.
    let truth = |kind: &str| {
        let own = found.flows.iter().filter(|flow| flow.kind == kind);
        own.map(|flow| flow.diagnosis.unwrap().truth.unwrap()).collect::<BTreeSet<_>>()
    };
    let all = ["policer", "random loss", "RED"].map(truth);
    let expected = [CauseClass::Policer, CauseClass::Air, CauseClass::Queue];
    assert_eq!(all, expected.map(|class| BTreeSet::from([class])));
    let flows: usize = found.diagnoses.iter().filter_map(|row| row.kind.map(|_| row.flows)).sum();
    let of_roles: usize =
        found.diagnoses.iter().filter(|row| row.kind.is_none()).map(|row| row.flows).sum();
    assert_eq!((flows, of_roles), (found.flows.len(), found.flows.len()));
}

#[test]
fn receivers_judge_flows_of_tfrc_with_their_own_algorithms() {
    let found = judged_on(ObservedAt::Receiver, 2);
    assert!(!found.names().contains(&"Veno") && found.names().contains(&"ZBS"));
    assert!(found.diagnoses.is_empty(), "there is no capture");
    let [policer, radio, red] = &found.kinds[..] else { panic!("three kinds") };
    assert_eq!((policer.wireless_flows, radio.congestion_flows, red.wireless_flows), (0, 0, 0));
    assert!(radio.wireless_flows == 2 && red.congestion_flows > 0);
}

#[test]
fn who_is_told_nothing_runs_as_stock() {
    let found = steered(2);
    let systems = ["cubic", "bbr", "always congestion", "always congestion alone"];
    assert_eq!(found.systems[..4], systems);
    assert_eq!(found.systems[4..], ["Spike", "Spike alone", "omniscient"]);
    let of = |system: &str, kind: Option<&str>| {
        let own = |row: &&SteeredRow| row.system == system && row.kind == kind;
        found.rows.iter().chain(&found.means).find(own).unwrap()
    };
    for kind in ["random loss", "RED"].map(Some) {
        let stock = of("cubic", kind);
        for system in ["always congestion", "always congestion alone"] {
            let constant = SteeredRow { system: "cubic".to_owned(), ..of(system, kind).clone() };
            assert_eq!(constant, *stock);
        }
        assert_eq!(stock.over_stock.unwrap().value, 1.0);
        assert_eq!(of("omniscient", kind).over_told.unwrap().value, 1.0);
    }
    // Spike calls losses behind RED wireless; guard and brake see what that does.
    let drops = |system| of(system, Some("RED")).drops_per_1000.unwrap().value;
    assert!(drops("Spike") < drops("Spike alone"));
    // Without queueing losses there is all to gain; without wireless ones nothing.
    assert!(of("omniscient", Some("random loss")).over_stock.unwrap().value > 1.5);
    assert_eq!(of("omniscient", Some("RED")).over_stock.unwrap().value, 1.0);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let (one, two) = (judged(1), judged(2));
    assert_eq!(texts(&one), texts(&two));
    assert_eq!(one, two);
    for at in [ObservedAt::Receiver, ObservedAt::Capture] {
        let (one, two) = (judged_on(at, 1), judged_on(at, 2));
        assert_eq!((texts(&one), &one), (texts(&two), &two));
    }
    let (one, two) = (steered(1), steered(2));
    assert_eq!(texts(&one), texts(&two));
    assert_eq!(one, two);
}

#[test]
fn a_stop_ends_every_part() {
    let stop = Stop::new();
    stop.request();
    let workers = Workers::from(Jobs::default()).stopping_at(&stop);
    for at in [ObservedAt::Sender, ObservedAt::Receiver, ObservedAt::Capture] {
        assert!(plan(at, &["LTE"], 1).measure(&workers, None, |_, _| ()).is_err());
    }
    assert!(loop_of(&[], &kinds(&["LTE"]), 1).measure(&workers, None, |_, _| ()).is_err());
}

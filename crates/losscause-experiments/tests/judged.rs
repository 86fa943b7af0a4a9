//! What a panel sees, and that it changes nothing.
#![allow(clippy::unwrap_used)]

use losscause::{Algorithm, AtSender, BuiltIn, Verdict};
use losscause_experiments::drawn::panel::Panel;
use losscause_experiments::drawn::{End, JudgedLoss, judged};
use losscause_experiments::paths::{Path, Pilot};
use losscause_sim::truth::Cause;
use losscause_study::Stop;
use losscause_study::run;
use losscause_study::run::run_recorded_stopping_at;

/// A short path with wireless and congestion losses behind an unaware pilot.
fn path() -> Path {
    let path = (0..).map(|number| Path::draw(1, number));
    let mut path =
        path.into_iter().filter(|path| path.pilot() == Pilot::Unaware && path.loss_rate > 0.01);
    path.next().unwrap()
}

#[test]
fn a_panel_changes_nothing_that_the_transport_does() {
    let path = path();
    for (end, algorithm) in [(End::Receiver, BuiltIn::Zbs), (End::Sender, BuiltIn::NthLoss)] {
        let experiment = path.experiment(end).unwrap();
        let plain = run(&experiment, path.run_seed()).unwrap();
        let beside = AtSender::new(algorithm.build(end).unwrap());
        let mut asked = 0;
        let mut panel =
            Panel::new(&experiment.network, end, |_| vec![beside.clone()], |_, _, _| asked += 1);
        let watched =
            run_recorded_stopping_at(&experiment, path.run_seed(), &mut panel, &Stop::new())
                .unwrap();
        drop(panel);
        assert!(asked > 10, "{asked}");
        assert_eq!(plain, watched, "{end}");
    }
}

#[test]
fn spike_beside_a_flow_is_right_more_often_than_not() {
    // The pilot of an unaware path is told nothing; Spike beside it and the true causes are those
    // of the same losses.
    for end in [End::Receiver, End::Sender] {
        let of = |number| {
            let path = Path::draw(1, number);
            let spike = BuiltIn::Spike.build(end).unwrap();
            judged(
                &path.experiment(end).unwrap(),
                path.run_seed(),
                end,
                |_| AtSender::new(spike.clone()),
                |spike, loss| spike.judge(loss).verdict,
            )
            .unwrap()
        };
        let losses: Vec<JudgedLoss<Verdict>> = (0..6).flat_map(of).collect();
        let wireless = losses.iter().filter(|loss| loss.cause == Cause::Wireless).count();
        assert!(wireless >= 10 && losses.len() >= wireless + 10, "{wireless} of {}", losses.len());
        let right = |loss: &&JudgedLoss<Verdict>| {
            loss.seen.is_wireless() == (loss.cause == Cause::Wireless)
        };
        let right = losses.iter().filter(right).count();
        assert!(2 * right > losses.len(), "{end}: {right} of {}", losses.len());
    }
}

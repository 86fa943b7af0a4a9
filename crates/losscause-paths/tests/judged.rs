//! What observers see, and that they change nothing.
#![allow(clippy::unwrap_used)]

use losscause::{Algorithm, Verdict};
use losscause_paths::{JudgedLoss, Path, Pilot, Vantage, judged_at_receiver, judged_at_sender};
use losscause_sim::Oracle;
use losscause_sim::truth::Cause;
use losscause_study::run;

/// The losses of a path, with what an oracle said.
type Judged = Vec<JudgedLoss<Verdict>>;

/// A short path with wireless and congestion losses behind an unaware pilot.
fn path() -> Path {
    let path = (0..).map(|number| Path::draw(1, number));
    let mut path = path.into_iter().filter(|path| path.pilot() == Pilot::Unaware && path.loss_rate > 0.01);
    path.next().unwrap()
}

#[test]
fn an_observer_changes_nothing_that_the_transport_does() {
    let path = path();
    for vantage in [Vantage::Receiver, Vantage::Sender] {
        let plain = run(&path.experiment(vantage).unwrap(), path.run_seed()).unwrap();
        let sent = |measured: &losscause_study::Measurements| {
            ["goodput", "congestion_loss", "wireless_drops", "timeouts"].map(|name| measured.metric(name))
        };
        let mut experiment = path.experiment(vantage).unwrap();
        match vantage {
            Vantage::Receiver => {
                let take: losscause_paths::panel::AtReceiver<_> = std::sync::Arc::new(std::sync::Mutex::new(
                    |_: usize, _: &losscause::Loss, _: &[losscause::AnyAlgorithm]| {},
                ));
                let zbs = BuiltIn::Zbs.build(End::Receiver).unwrap();
                losscause_paths::panel::watch_receivers(&mut experiment.network, |_| vec![zbs.clone()], &take);
            }
            Vantage::Sender => {
                let take: losscause_paths::panel::AtSender<_> = std::sync::Arc::new(std::sync::Mutex::new(
                    |_: usize, _: losscause_paths::panel::Moment<'_>, _: &[losscause::AnyAlgorithm]| {},
                ));
                let nth = BuiltIn::NthLoss.build(End::Sender).unwrap();
                losscause_paths::panel::watch_senders(&mut experiment.network, |_| vec![nth.clone()], &take);
            }
        }
        let watched = run(&experiment, path.run_seed()).unwrap();
        assert_eq!(sent(&plain), sent(&watched), "{vantage}");
    }
}

#[test]
fn an_oracle_among_the_observers_is_always_right() {
    let right = |cause| if cause == Cause::Wireless { Verdict::Wireless } else { Verdict::Congestion };
    let judged: [fn(&Path) -> Judged; 2] = [
        |path| {
            judged_at_receiver(path, |_| Oracle::OMNISCIENT, |oracle, loss| Algorithm::judge(oracle, loss).verdict)
                .unwrap()
        },
        |path| {
            judged_at_sender(path, |_| Oracle::OMNISCIENT, |oracle, loss| Algorithm::judge(oracle, loss).verdict)
                .unwrap()
        },
    ];
    for judged in judged {
        let losses: Judged = (0..6).flat_map(|number| judged(&Path::draw(1, number))).collect();
        assert!(losses.iter().all(|loss| loss.seen == right(loss.cause)));
        let wireless = losses.iter().filter(|loss| loss.cause == Cause::Wireless).count();
        assert!(wireless >= 10 && losses.len() >= wireless + 10, "{wireless} of {}", losses.len());
    }
}

//! Makes transfers of the running kernel's TCP over held-out networks, judges their captures and
//! writes the record that `losscause reproduce abroad/kernel` shows. Needs root.

use std::error::Error;
use std::fs;

use losscause::registry::Registry;
use losscause_experiments::abroad::{Drawn, Judges, Kind, Role, kernel};
use losscause_experiments::live::linux::captures::make;
use losscause_sim::{TcpLda, Traffic};
use losscause_study::{Experiment, Jobs, Stop, Workers};

/// The seed of the networks, and how many there are of each kind.
const SEED: u64 = 2;
const NETWORKS: u32 = 8;
/// Transfers at a time.
const JOBS: usize = 2;
/// Attempts at a transfer that is disturbed.
const ATTEMPTS: u32 = 4;

/// Why the record was not made.
type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let judges = Judges::of(&Registry::built_in());
    let kinds: Vec<&'static Kind> = Kind::all(Role::HeldOut).collect();
    let all = Drawn::all(&kinds, SEED, NETWORKS);
    let judged = |drawn: &Drawn| -> Result<_, Failure> {
        eprintln!("{drawn}");
        let experiment = stock(drawn.experiment()?);
        let mut why = String::new();
        for _ in 0..ATTEMPTS {
            match make(&experiment, drawn.run_seed(), &Stop::new())? {
                Ok(made) => {
                    return Ok(judges.judge(drawn, &experiment, &made.sender[..], made.lost)?);
                }
                Err(disturbed) => why = disturbed,
            }
        }
        Err(format!("{drawn}: {why}").into())
    };
    let flows = Workers::from(Jobs::new(JOBS)?).map(&all, judged, |_| ())?;
    let flows: Vec<_> = flows.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/src/abroad/kernel.csv");
    fs::write(record, kernel::record(&judges, &flows))?;
    eprintln!("{} flows of {} transfers", flows.len(), all.len());
    Ok(())
}

/// The network with the kernel's own flows, which no algorithm steers.
fn stock(mut experiment: Experiment) -> Experiment {
    for flow in &mut experiment.network.flows {
        if let Traffic::Tcp { lda, .. } = &mut flow.traffic {
            *lda = TcpLda::None;
        }
    }
    experiment
}

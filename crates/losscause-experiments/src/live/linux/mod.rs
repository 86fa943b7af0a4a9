//! `live`: the running kernel's TCP over emulated links.
//!
//! Each cell is a scenario with one link. The kernel's connections cross that link over the
//! emulator, between two network namespaces; `reno`, `cubic`, `bbr` are the kernel's own, `lc_*`
//! are loaded before the first run and unloaded after the last. The simulator runs the same file
//! with the same seed, where it has the system's variant and algorithm ([`simulated`]).

mod answer;
mod claims;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod kernel;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub use kernel::captures;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub(crate) use kernel::{KernelStack, WatchedStack};
pub mod simulated;

use losscause_laboratory::papers::reproduce::Configuration;

use crate::live::Experiment;
use crate::live::experiment::{Ready, record};

/// Systems whose names begin in this way are loaded by the experiment.
const OURS: &str = "lc_";

/// The experiment.
pub static LIVE: Experiment = Experiment {
    record: record!("live", ["transfer"], claims::PREDICATES),
    answer: answer::of,
    set_up,
};

#[cfg(all(feature = "linux", target_os = "linux"))]
fn set_up(cells: &[Configuration]) -> Ready {
    Ok(kernel::KernelCell::of(cells)?)
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn set_up(_: &[Configuration]) -> Ready {
    Err(crate::live::LiveError::not_built("live", "linux").into())
}

#[cfg(test)]
mod tests {
    use losscause::Span;
    use losscause_sim::{ChannelSpec, Limit, QueueSpec};

    use crate::live::experiment::is_under_test;
    use crate::live::testing::cells;

    #[test]
    fn the_first_table_is_10_mbps_40_ms_and_one_bdp() {
        let cells = cells("live", &[]);
        assert_eq!(cells.len(), 39);
        assert!(cells.iter().all(|cell| cell.experiment.duration.as_secs_f64() == 15.0));
        for cell in cells {
            let link = &cell.experiment.network.links[0];
            assert_eq!((link.rate_bps, link.delay), (10_000_000, Span::from_millis(20)));
            // 10 Mb/s for 40 ms are 50,000 bytes, or 33.3 packets.
            assert!(
                matches!(link.queue, QueueSpec::DropTail { limit: Limit::Packets(34) }),
                "{:?}",
                link.queue
            );
            let loss = cell.parameters["loss"].as_number().unwrap();
            assert!(
                matches!(link.channel, ChannelSpec::Bernoulli { loss: set } if set == loss),
                "{:?}",
                link.channel
            );
            assert_eq!(cell.experiment.network.flows.len(), 1);
        }
    }

    #[test]
    fn cells_on_demand_have_their_queue_channel_and_flows() {
        let of = |item: &str| cells(&format!("live/{item}"), &[])[0].experiment.network.clone();
        assert!(matches!(of("fq-codel").links[0].queue, QueueSpec::FqCoDel(_)));
        assert!(matches!(of("burst").links[0].channel, ChannelSpec::GilbertElliott { .. }));
        assert_eq!(of("fast").links[0].rate_bps, 50_000_000);
        assert!(of("four-flows").flows.iter().all(|flow| is_under_test(&flow.name)));
        let pair = of("sharing");
        assert_eq!(
            pair.flows.iter().map(|flow| is_under_test(&flow.name)).collect::<Vec<_>>(),
            [true, false]
        );
    }

    #[cfg(not(all(feature = "linux", target_os = "linux")))]
    #[test]
    fn without_the_feature_one_sentence_says_what_is_missing() {
        let error = (super::LIVE.set_up)(&[]).err().unwrap();
        assert!(error.is_bad_input());
        assert!(error.to_string().starts_with(if cfg!(target_os = "linux") {
            "reproduce live: this program was built without `linux`"
        } else {
            "reproduce live: needs Linux"
        }));
    }
}

//! Congestion control for the running kernel: eBPF programs, and their loader.
//!
//! ```text
//! algorithm   the programs by name, their settings, and the parameters that they are loaded with
//! base        the kernel's congestion controls, and what one would have had
//! caps        how much a wrong rule can cost
//! safeguards  guard and brake as settings
//! machine     what the machine must have: root, BTF, a new enough kernel, the BPF file system
//! needs       all of that one by one, with the kernel's types and functions
//! load        loads a program and keeps it loaded; unloads it
//! trial       gives it to some new connections
//! status      what loaded programs have counted, in total and per connection
//! namespaces  the network namespaces of this machine
//! log         every judgement of lost packets, while somebody reads
//! refusal     why the kernel refused a program, in one sentence
//! record      the bytes of bpf/record.h
//! unit        a systemd unit that loads a program at boot
//! ```
//!
//! `bpf/` holds the programs, one small file each. `bpf/lda/` has the algorithms in fixed point; a
//! test replays streams of observations through them and through the algorithms of [`losscause`],
//! which are the reference.
//!
//! A program stays loaded after the process that loaded it has ended, because its link and its maps
//! are pinned under `/sys/fs/bpf/losscause/NAME`.

use std::io::Read;
use std::ops::Range;

use losscause_capture::frames::decompressed;

pub mod algorithm;
mod base;
mod caps;
mod error;
mod load;
mod lock;
mod log;
mod machine;
mod namespaces;
mod needs;
pub(crate) mod record;
pub(crate) mod refusal;
mod safeguards;
mod status;
mod trial;
mod unit;

pub use algorithm::{Algorithm, Settings};
pub use base::{Base, Transferred};
pub use caps::Caps;
pub use error::KernelError;
pub use load::{Loaded, Options, load, unload};
pub(crate) use lock::Lock;
pub use log::{VerdictLog, VerdictRecord};
pub use needs::{Need, needs};
pub use record::{Judged, Sums, Totals, Why};
pub use status::{Connection, Status, status};
pub use trial::Trial;
pub use unit::{UNIT_DIR, unit};

/// The compiled programs, compressed together.
const PROGRAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs.xz"));
/// Their names and places.
const PLACES: &[(&str, Range<usize>)] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The compiled program of that name. libbpf refuses the empty one.
pub(crate) fn object(name: &str) -> Vec<u8> {
    let mut objects = Vec::new();
    let unpacked = decompressed(Box::new(PROGRAMS)).and_then(|mut it| it.read_to_end(&mut objects));
    let place = PLACES.iter().find(|(known, _)| *known == name && unpacked.is_ok());
    place.and_then(|(_, place)| objects.get(place.clone())).map_or(Vec::new(), <[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_its_program() {
        for name in
            algorithm::ALGORITHMS.iter().map(|algorithm| algorithm.name).chain(["status", "trial"])
        {
            assert!(!object(name).is_empty(), "{name}");
        }
    }
}

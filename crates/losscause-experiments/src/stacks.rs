//! The stacks that a sweep can name: the simulator and those of this crate.

use losscause_laboratory::stack::{Stack, Stacks};
use losscause_study::RunError;

use crate::captures::CaptureStack;
use crate::ns2::{Errors, Ns2Stack};

/// What opens a stack that a program may lack, and says then which feature it was built without.
macro_rules! stack {
    ($needs:meta, $feature:expr, $name:literal: $stack:expr) => {{
        fn open() -> Result<Box<dyn Stack>, RunError> {
            #[cfg($needs)]
            return Ok(Box::new($stack));
            #[cfg(not($needs))]
            Err(losscause_study::InputError::NotBuilt {
                what: concat!("the stack ", $name).into(),
                feature: $feature,
            }
            .into())
        }
        open
    }};
}

/// [`stack`] of Linux.
macro_rules! linux {
    ($name:literal: $stack:expr) => {
        stack!(all(feature = "linux", target_os = "linux"), "linux", $name: $stack)
    };
}

/// [`stack`] of QUIC over sockets.
macro_rules! sockets {
    ($name:literal: $of:ident) => {
        stack!(
            all(feature = "linux", feature = "quic", target_os = "linux"),
            if cfg!(feature = "quic") { "linux" } else { "quic" },
            $name: crate::live::sockets::SocketStack::open(crate::live::quic::QuicStack::$of)?
        )
    };
}

/// All stacks. One that this program was built without, or that this machine lacks, is known too,
/// and says so when a sweep names it.
///
/// ```
/// assert!(losscause_experiments::stacks().find("kernel").is_ok());
/// ```
pub fn stacks() -> Stacks {
    let quinn = stack!(feature = "quic", "quic", "quinn": crate::live::quic::QuicStack::QUINN);
    let noq = stack!(feature = "quic", "quic", "noq": crate::live::quic::QuicStack::NOQ);
    Stacks::default()
        .with("kernel", linux!("kernel": crate::live::linux::KernelStack::open()?))
        .with("quinn", quinn)
        .with("noq", noq)
        .with("quinn-sockets", sockets!("quinn-sockets": QUINN))
        .with("noq-sockets", sockets!("noq-sockets": NOQ))
        .with("media", stack!(feature = "media", "media", "media": crate::live::media::MediaStack))
        .with("kernel-captures", linux!("kernel-captures": crate::live::linux::captures::stack()?))
        .with(
            "watched-captures",
            linux!("watched-captures": crate::live::linux::WatchedStack::open()?),
        )
        .with("ns2", || Ok(Box::new(Ns2Stack::open(Errors::Simulators)?)))
        .with("ns2-own-errors", || Ok(Box::new(Ns2Stack::open(Errors::Own)?)))
        .with("captures", || Ok(Box::new(CaptureStack::simulated())))
}

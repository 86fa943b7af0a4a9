//! The stacks that a sweep can name: the simulator and those of this crate.

use losscause_laboratory::stack::{Stack, Stacks};

use crate::ns2::{Errors, Ns2Stack};

/// All stacks. One that this program was built without, or that this machine lacks, is known too,
/// and says so when a sweep names it.
///
/// ```
/// assert!(losscause_experiments::stacks().find("kernel").is_ok());
/// ```
pub fn stacks() -> Stacks {
    Stacks::default()
        .with("kernel", kernel)
        .with("quinn", quinn)
        .with("noq", noq)
        .with("quinn-sockets", quinn_sockets)
        .with("noq-sockets", noq_sockets)
        .with("media", media)
        .with("kernel-captures", kernel_captures)
        .with("watched-captures", watched_captures)
        .with("ns2", || Ok(Box::new(Ns2Stack::open(Errors::Simulators)?)))
        .with("ns2-own-errors", || Ok(Box::new(Ns2Stack::open(Errors::Own)?)))
        .with("captures", || Ok(Box::new(crate::captures::CaptureStack::simulated())))
}

/// What opening a stack gives.
type Opened = Result<Box<dyn Stack>, losscause_study::RunError>;

fn kernel() -> Opened {
    #[cfg(all(feature = "linux", target_os = "linux"))]
    return Ok(Box::new(crate::live::linux::KernelStack::open()?));
    #[cfg(not(all(feature = "linux", target_os = "linux")))]
    not_built("kernel", "linux")
}

fn kernel_captures() -> Opened {
    #[cfg(all(feature = "linux", target_os = "linux"))]
    return Ok(Box::new(crate::live::linux::captures::stack()?));
    #[cfg(not(all(feature = "linux", target_os = "linux")))]
    not_built("kernel-captures", "linux")
}

fn watched_captures() -> Opened {
    #[cfg(all(feature = "linux", target_os = "linux"))]
    return Ok(Box::new(crate::live::linux::WatchedStack::open()?));
    #[cfg(not(all(feature = "linux", target_os = "linux")))]
    not_built("watched-captures", "linux")
}

fn quinn() -> Opened {
    #[cfg(feature = "quic")]
    return Ok(Box::new(crate::live::quic::QuicStack::QUINN));
    #[cfg(not(feature = "quic"))]
    not_built("quinn", "quic")
}

fn noq() -> Opened {
    #[cfg(feature = "quic")]
    return Ok(Box::new(crate::live::quic::QuicStack::NOQ));
    #[cfg(not(feature = "quic"))]
    not_built("noq", "quic")
}

fn media() -> Opened {
    #[cfg(feature = "media")]
    return Ok(Box::new(crate::live::media::MediaStack));
    #[cfg(not(feature = "media"))]
    not_built("media", "media")
}

fn quinn_sockets() -> Opened {
    #[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
    return sockets(crate::live::quic::QuicStack::QUINN);
    #[cfg(not(all(feature = "linux", feature = "quic", target_os = "linux")))]
    not_built("quinn-sockets", if cfg!(feature = "quic") { "linux" } else { "quic" })
}

fn noq_sockets() -> Opened {
    #[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
    return sockets(crate::live::quic::QuicStack::NOQ);
    #[cfg(not(all(feature = "linux", feature = "quic", target_os = "linux")))]
    not_built("noq-sockets", if cfg!(feature = "quic") { "linux" } else { "quic" })
}

#[cfg(all(feature = "linux", feature = "quic", target_os = "linux"))]
fn sockets(implementation: crate::live::quic::QuicStack) -> Opened {
    Ok(Box::new(crate::live::sockets::SocketStack::open(implementation)?))
}

#[cfg(not(all(feature = "linux", feature = "media", feature = "quic", target_os = "linux")))]
fn not_built(stack: &str, feature: &'static str) -> Opened {
    let what = format!("the stack {stack}");
    Err(losscause_study::InputError::NotBuilt { what, feature }.into())
}

//! The stacks that a sweep can name: the simulator and those of this crate.

use losscause_laboratory::stack::Stacks;

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
        .with("kernel-captures", kernel_captures)
        .with("watched-captures", watched_captures)
        .with("captures", || Ok(Box::new(crate::captures::CaptureStack::simulated())))
}

/// What opening a stack gives.
type Opened = Result<Box<dyn losscause_laboratory::stack::Stack>, losscause_study::RunError>;

#[cfg(all(feature = "linux", target_os = "linux"))]
fn kernel() -> Opened {
    Ok(Box::new(crate::live::linux::KernelStack::open()?))
}

#[cfg(all(feature = "linux", target_os = "linux"))]
fn kernel_captures() -> Opened {
    Ok(Box::new(crate::live::linux::captures::stack()?))
}

#[cfg(all(feature = "linux", target_os = "linux"))]
fn watched_captures() -> Opened {
    Ok(Box::new(crate::live::linux::WatchedStack::open()?))
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn kernel() -> Opened {
    not_built("kernel", "linux")
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn kernel_captures() -> Opened {
    not_built("kernel-captures", "linux")
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn watched_captures() -> Opened {
    not_built("watched-captures", "linux")
}

#[cfg(feature = "quic")]
fn quinn() -> Opened {
    Ok(Box::new(crate::live::quic::QuicStack::QUINN))
}

#[cfg(feature = "quic")]
fn noq() -> Opened {
    Ok(Box::new(crate::live::quic::QuicStack::NOQ))
}

#[cfg(not(feature = "quic"))]
fn quinn() -> Opened {
    not_built("quinn", "quic")
}

#[cfg(not(feature = "quic"))]
fn noq() -> Opened {
    not_built("noq", "quic")
}

#[cfg(not(all(feature = "linux", feature = "quic", target_os = "linux")))]
fn not_built(stack: &str, feature: &'static str) -> Opened {
    let what = format!("the stack {stack}");
    Err(losscause_study::InputError::NotBuilt { what, feature }.into())
}

//! The stacks that a sweep can name: the simulator and those of this crate.

use losscause_laboratory::stack::Stacks;

/// All stacks. One that this program was built without, or that this machine lacks, is known too,
/// and says so when a sweep names it.
///
/// ```
/// assert!(losscause_experiments::stacks().find("kernel").is_ok());
/// ```
pub fn stacks() -> Stacks {
    Stacks::default().with("kernel", kernel)
}

/// What opening a stack gives.
type Opened = Result<Box<dyn losscause_laboratory::stack::Stack>, losscause_study::RunError>;

#[cfg(all(feature = "linux", target_os = "linux"))]
fn kernel() -> Opened {
    Ok(Box::new(crate::live::linux::KernelStack::open()?))
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn kernel() -> Opened {
    let what = "the stack kernel".to_owned();
    Err(losscause_study::InputError::NotBuilt { what, feature: "linux" }.into())
}

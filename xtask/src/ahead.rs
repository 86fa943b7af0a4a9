//! Builds for later steps of `ci`, beside the earlier ones.
//!
//! Many steps wait: for an emulated link, a browser, one long test. A process of the lowest priority compiles in the meantime
//! what later steps need, in a profile or for a target of their own. Those steps call cargo all the same: it waits for a build
//! that is under way, finds what is there, and reports what failed here.

use std::env;
use std::process::{Child, Stdio};

use anyhow::Result;

use crate::shell::command;
use crate::{fuzz, lab, python};

/// The process. It is ended when this is dropped.
pub(crate) struct Ahead(Option<Child>);

impl Ahead {
    /// Starts the builds. Where a process cannot have a lower priority, nothing is built ahead.
    pub(crate) fn start() -> Self {
        let Ok(program) = env::current_exe() else { return Self(None) };
        let mut builds = command("nice");
        builds.args(["-n", "19"]).arg(program).arg("build-ahead");
        Self(builds.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok())
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            _ = child.kill();
            _ = child.wait();
        }
    }
}

/// The builds, in the order in which they are needed; one that fails does not stop the others.
///
/// # Errors
/// None.
pub(crate) fn build() -> Result<()> {
    let builds = [lab::modules, python::library, fuzz::build];
    builds.iter().for_each(|build| _ = build());
    Ok(())
}

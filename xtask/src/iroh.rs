//! `cargo xtask iroh`: builds the example of iroh and sends 10 MB over loopback with it.
//!
//! It is outside the workspace, with a lock file of its own: iroh needs Rust 1.91.

use anyhow::{Result, bail};

use crate::shell::{cargo, program, run, target};

/// Where the receiver listens.
const ADDRESS: &str = "127.0.0.1:44330";

/// Builds with the development compiler and runs both ends.
///
/// # Errors
/// The example does not compile, or the transfer fails.
pub(crate) fn iroh() -> Result<()> {
    let folder = target().join("iroh");
    let mut build = cargo("build --locked --manifest-path examples/iroh/Cargo.toml");
    run(build.env("CARGO_TARGET_DIR", &folder))?;
    let transfer = folder.join("debug/iroh-transfer");
    let scratch = tempfile::tempdir()?;
    let id = scratch.path().join("id");
    let mut receiver = program(&transfer).arg("receive").arg(ADDRESS).arg(&id).spawn()?;
    while !id.exists() {
        if let Some(status) = receiver.try_wait()? {
            bail!("the receiver ended with {status}");
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let sent = run(program(&transfer).arg("send").arg(ADDRESS).arg(&id));
    if sent.is_err() {
        receiver.kill()?;
    }
    let received = receiver.wait()?;
    sent?;
    if !received.success() {
        bail!("the receiver ended with {received}");
    }
    Ok(())
}

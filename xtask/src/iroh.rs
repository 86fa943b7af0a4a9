//! `cargo xtask iroh`: builds the example of iroh and sends 10 MB over loopback with it.
//!
//! It is outside the workspace, with a lock file of its own: iroh needs Rust 1.91.

use anyhow::{Context, Result, bail};

use crate::shell::{cargo, command, root, run, target};

/// Where the receiver listens.
const ADDRESS: &str = "127.0.0.1:44330";

/// Builds with the development compiler and runs both ends.
///
/// # Errors
/// The example does not compile, or the transfer fails.
pub(crate) fn iroh() -> Result<()> {
    let folder = target().join("iroh");
    let manifest = root().join("examples/iroh/Cargo.toml");
    run(cargo()
        .args(["build", "--locked", "--manifest-path"])
        .arg(manifest)
        .env("CARGO_TARGET_DIR", &folder))?;
    let program = folder.join("debug/iroh-transfer");
    let program = program.to_str().context("the path of the target folder is not UTF-8")?;
    let scratch = tempfile::tempdir()?;
    let id = scratch.path().join("id");
    let mut receiver = command(program).arg("receive").arg(ADDRESS).arg(&id).spawn()?;
    while !id.exists() {
        if let Some(status) = receiver.try_wait()? {
            bail!("the receiver ended with {status}");
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let sent = run(command(program).arg("send").arg(ADDRESS).arg(&id));
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

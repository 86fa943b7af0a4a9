//! What the tests with real networks need.

use std::path::Path;

/// Whether this machine lets the tests make networks: root, and TUN devices. If not, says that the
/// test is skipped; with `CI=true` that is a failure.
pub(crate) fn can_make_networks() -> bool {
    let missing = if !nix::unistd::geteuid().is_root() {
        "root"
    } else if !Path::new("/dev/net/tun").exists() {
        "/dev/net/tun"
    } else {
        return true;
    };
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{missing} is missing, and CI skips nothing"
    );
    eprintln!("skipped: {missing} is missing");
    false
}

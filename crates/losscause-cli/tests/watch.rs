//! `losscause watch`: what is refused, without root and with it.
#![cfg(all(feature = "linux", target_os = "linux"))]
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/refuses.rs"]
mod refuses;

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use refuses::refuses;

/// A user without rights.
const NOBODY: u32 = 65_534;

fn losscause(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_losscause")).arg("watch").args(arguments).output().unwrap()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    refuses(&losscause(&["prot=443"]), "the filter \"prot=443\" is unknown, expected port=N");
    refuses(&losscause(&["port=0"]), "the filter \"port=0\" cannot be used, expected a port");
    refuses(&losscause(&["--every", "0"]), "expected seconds, from 0.1 to 1000000");
    refuses(&losscause(&["--connection", "peer"]), "--connection peer: expected the peer as");
    refuses(
        &losscause(&["--metrics", "0.0.0.0:0"]),
        "--metrics 0.0.0.0:0: is no address of this computer alone",
    );
    refuses(&losscause(&["--anywhere"]), "--metrics");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refuses(&losscause(&["--metrics", &address]), "cannot be listened at");
}

#[test]
fn a_user_without_rights_is_told_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("losscause");
    // Another process copies it: while this one has a file open to write, a command that another
    // test starts has it too, and nobody can run it.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_losscause")).arg(&binary).status();
    assert!(copied.unwrap().success());
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(&binary);
    command.args(["watch", "--once", "--for", "0.1"]);
    if is_root() {
        command.uid(NOBODY);
    }
    refuses(
        &command.output().unwrap(),
        "watching needs CAP_PERFMON and CAP_BPF, which this process does not have: try sudo",
    );
}

#[test]
fn a_kernel_without_the_tracepoints_is_refused() {
    if !is_root() {
        return; // Only root sees another kernel's types.
    }
    // The types of a kernel that has none (include/uapi/linux/btf.h): a head of 24 bytes and the
    // empty name.
    let head = [0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    let types = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(types.path(), head).unwrap();
    let seen = format!(
        "mount --bind {} /sys/kernel/btf/vmlinux && exec {} watch --once",
        types.path().display(),
        env!("CARGO_BIN_EXE_losscause")
    );
    let output = Command::new("unshare").args(["--mount", "sh", "-c", &seen]).output().unwrap();
    refuses(&output, "this kernel has no tracepoint tcp_probe, expected one built with");
}

#[test]
fn the_schema_names_every_key() {
    let printed = losscause(&["--schema"]);
    assert!(printed.status.success());
    let schema = include_str!("../../../docs/watch.schema.json");
    assert_eq!(String::from_utf8_lossy(&printed.stdout), schema);
}

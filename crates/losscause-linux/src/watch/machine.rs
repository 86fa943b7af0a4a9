//! What the machine must have and the process may do: features are asked for, not versions.

use std::fs;
use std::path::Path;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;

use super::WatchError;
use crate::kernel::{KernelError, Lock};

const BTF: &str = "/sys/kernel/btf/vmlinux";
/// The tracepoints that `bpf/watch.bpf.c` attaches to.
const TRACEPOINTS: [&str; 3] = ["tcp_probe", "tcp_retransmit_skb", "tcp_destroy_sock"];

/// Capabilities by their bit; one that stands for another counts as it.
const CAP_SYS_ADMIN: u64 = 1 << 21;
const NEEDED: [(&str, u64); 2] = [("CAP_PERFMON", 1 << 38), ("CAP_BPF", 1 << 39)];

/// Checks the capabilities, BTF and the tracepoints.
pub(super) fn check() -> Result<(), WatchError> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(missing) = missing(&status) {
        return Err(WatchError::MissingCapability { missing });
    }
    if !Path::new(BTF).exists() {
        return Err(WatchError::NoBtf { file: BTF });
    }
    let Ok(types) = Btf::from_vmlinux() else { return Err(WatchError::NoBtf { file: BTF }) };
    for name in TRACEPOINTS {
        if types.type_by_name::<Typedef<'_>>(&format!("btf_trace_{name}")).is_none() {
            return Err(WatchError::NoTracepoint { name });
        }
    }
    Ok(())
}

/// The capabilities that a process with this `/proc/self/status` lacks.
fn missing(status: &str) -> Option<String> {
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let bits = u64::from_str_radix(bits.trim(), 16).ok()?;
    if bits & CAP_SYS_ADMIN != 0 {
        return None;
    }
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(_, bit)| bits & bit == 0).map(|(name, _)| *name).collect();
    (!missing.is_empty()).then(|| missing.join(" and "))
}

/// The file that root's watch locks. No other user can open it, and keep root from watching.
const LOCK: &str = "/run/losscause-watch.lock";

/// Refuses a second watch of root. Who may not write to `/run` goes without the lock.
pub(super) fn only_one() -> Result<Option<Lock>, WatchError> {
    match Lock::alone(Path::new(LOCK)) {
        Ok(lock) => Ok(Some(lock)),
        Err(KernelError::Busy) => Err(WatchError::Second),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capabilities_that_are_missing_are_named() {
        let of = |bits: u64| missing(&format!("Name:\tx\nCapEff:\t{bits:016x}\n"));
        assert_eq!(of(0), Some("CAP_PERFMON and CAP_BPF".to_owned()));
        assert_eq!(of(1 << 39), Some("CAP_PERFMON".to_owned()));
        assert_eq!(of(1 << 38), Some("CAP_BPF".to_owned()));
        assert_eq!(of(1 << 38 | 1 << 39), None);
        assert_eq!(of(1 << 21), None, "CAP_SYS_ADMIN includes both");
    }
}

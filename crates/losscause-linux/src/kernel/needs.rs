//! What the programs need of the machine, one by one, so that a person hears of all that is missing.

use std::path::Path;

use libbpf_rs::btf::types::{Func, Struct};
use libbpf_rs::btf::{Btf, BtfType};

use super::machine;

/// Something that programs need.
#[derive(Debug)]
#[non_exhaustive]
pub struct Need {
    /// What it is.
    pub what: &'static str,
    /// Why the machine lacks it, in one sentence; none if it has it.
    pub lack: Option<String>,
}

impl Need {
    fn new(what: &'static str, found: Result<(), impl ToString>) -> Self {
        Self { what, lack: found.err().map(|lack| lack.to_string()) }
    }
}

/// The type by which a kernel says that programs can be congestion controls.
const STRUCT_OPS: &str = "bpf_struct_ops_tcp_congestion_ops";
/// Functions of the kernel that every program calls (`bpf/kernel.h`).
const RENO: [&str; 3] = ["tcp_reno_ssthresh", "tcp_reno_cong_avoid", "tcp_reno_undo_cwnd"];
/// One that the programs with CUBIC's growth call (`bpf/growth/cubic.h`).
const CUBIC: [&str; 1] = ["cubictcp_init"];
/// Where a kernel describes CUBIC if that is a module.
const CUBIC_MODULE: &str = "/sys/kernel/btf/tcp_cubic";

/// All that programs need, in the order in which loading would miss it.
///
/// ```no_run
/// let lacks = losscause_linux::kernel::needs().into_iter().filter_map(|need| need.lack);
/// println!("{}", lacks.collect::<Vec<_>>().join("\n"));
/// ```
pub fn needs() -> Vec<Need> {
    let types = Btf::from_vmlinux().ok();
    let types = types.as_ref();
    let can_be_programs = types.and_then(|types| types.type_by_name::<Struct<'_>>(STRUCT_OPS));
    let cubic = if Path::new(CUBIC_MODULE).exists() { Ok(()) } else { calls(types, &CUBIC) };
    vec![
        Need::new("root", machine::check_root()),
        Need::new("Linux 6.4 or newer", machine::check_kernel()),
        Need::new("the kernel's types", machine::check_types()),
        Need::new(
            "congestion controls as programs",
            can_be_programs.map(|_| ()).ok_or(
                "the kernel has no struct_ops for TCP, expected one built with CONFIG_BPF_JIT and CONFIG_BPF_SYSCALL",
            ),
        ),
        Need::new("the functions of Reno", calls(types, &RENO)),
        Need::new("the functions of CUBIC, for lc_cubic_*", cubic),
        Need::new("the BPF file system", machine::check_bpf_fs()),
    ]
}

/// Whether the kernel has functions of these names.
fn calls(types: Option<&Btf<'_>>, names: &[&str]) -> Result<(), String> {
    let has = |name: &str| {
        types
            .and_then(|types| types.type_by_name::<BtfType<'_>>(name))
            .is_some_and(|found| Func::try_from(found).is_ok())
    };
    match names.iter().find(|name| !has(name)) {
        Some(name) => Err(format!("the kernel has no function {name} for programs")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_types_lacks_every_function() {
        let lack = calls(None, &RENO).unwrap_err();
        assert_eq!(lack, "the kernel has no function tcp_reno_ssthresh for programs");
        assert_eq!(calls(None, &[]), Ok(()));
    }

    #[test]
    fn what_is_needed_is_named_once_and_a_lack_is_a_sentence() {
        let needs = needs();
        let mut names: Vec<&str> = needs.iter().map(|need| need.what).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), needs.len());
        let lacks = needs.into_iter().filter_map(|need| need.lack);
        assert!(lacks.into_iter().all(|lack| lack.split_whitespace().count() > 3));
    }
}

//! What the machine must have.

use std::path::{Path, PathBuf};
use std::{fs, io};

use nix::mount::{MsFlags, mount};
use nix::unistd::geteuid;

use super::KernelError;

/// The kernel's description of its types.
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// Where the BPF file system belongs.
const BPF_FS: &str = "/sys/fs/bpf";
/// The first kernel in which a link keeps a congestion control loaded (`.struct_ops.link`).
const OLDEST: (u32, u32) = (6, 4);
/// The registered congestion controls, one line.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// The default of the calling thread's network namespace.
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Checks for root, a new enough kernel and BTF.
pub(super) fn check() -> Result<(), KernelError> {
    check_root()?;
    check_kernel()?;
    check_types()
}

pub(super) fn check_root() -> Result<(), KernelError> {
    if geteuid().is_root() { Ok(()) } else { Err(KernelError::NotRoot) }
}

pub(super) fn check_kernel() -> Result<(), KernelError> {
    check_release(read("/proc/sys/kernel/osrelease")?.trim())
}

pub(super) fn check_types() -> Result<(), KernelError> {
    if Path::new(BTF).exists() { Ok(()) } else { Err(KernelError::NoBtf { file: BTF }) }
}

/// Whether the BPF file system is mounted, or can be.
pub(super) fn check_bpf_fs() -> Result<(), KernelError> {
    if bpf_fs_is_mounted()? || Path::new(BPF_FS).is_dir() {
        return Ok(());
    }
    let reason = io::ErrorKind::NotFound.into();
    Err(KernelError::NoBpfFs { dir: BPF_FS, reason })
}

fn check_release(release: &str) -> Result<(), KernelError> {
    let mut numbers =
        release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST {
        return Err(KernelError::OldKernel { release: release.to_owned(), oldest: OLDEST });
    }
    Ok(())
}

/// Mounts the BPF file system if it is not mounted. Returns whether it had to.
pub(super) fn ensure_bpf_fs() -> Result<bool, KernelError> {
    if bpf_fs_is_mounted()? {
        return Ok(false);
    }
    mount(Some("bpf"), BPF_FS, Some("bpf"), MsFlags::empty(), None::<&str>)
        .map_err(|errno| KernelError::NoBpfFs { dir: BPF_FS, reason: errno.into() })?;
    Ok(true)
}

fn bpf_fs_is_mounted() -> Result<bool, KernelError> {
    Ok(read("/proc/self/mounts")?.lines().any(|line| line.split(' ').nth(1) == Some(BPF_FS)))
}

/// The folder of the control group that holds all others.
pub(super) fn all_cgroups() -> Result<PathBuf, KernelError> {
    let mounts = read("/proc/self/mounts")?;
    let of_line = |line: &str| {
        let mut words = line.split(' ').skip(1);
        Some(PathBuf::from(words.next()?)).filter(|_| words.next() == Some("cgroup2"))
    };
    mounts.lines().find_map(of_line).ok_or(KernelError::NoCgroups)
}

/// Whether a congestion control of that name is registered.
pub(super) fn is_registered(name: &str) -> Result<bool, KernelError> {
    Ok(read(AVAILABLE)?.split_whitespace().any(|known| known == name))
}

/// What new connections of the calling thread's network namespace use by default.
pub(super) fn default_control() -> Result<String, KernelError> {
    Ok(read(DEFAULT)?.trim().to_owned())
}

fn read(file: &str) -> Result<String, KernelError> {
    fs::read_to_string(file)
        .map_err(|reason: io::Error| KernelError::File { file: file.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_before_6_4_is_refused_by_its_release() {
        for release in ["6.4.0", "6.18.44-fc", "7.0-rc1", "10.1"] {
            assert!(check_release(release).is_ok(), "{release}");
        }
        for (release, shown) in
            [("6.3.9-arch", "6.3.9-arch"), ("5.15.0-100-generic", "5.15"), ("4.18", "4.18")]
        {
            let error = check_release(release).expect_err(release).to_string();
            assert!(error.contains(shown) && error.contains("6.4 or newer"), "{error}");
        }
    }
}

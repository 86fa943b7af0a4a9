//! Why something could not be done with the kernel.

use std::io;

use losscause::registry::ConfigError;

use crate::filter::FilterError;

/// Why a program was not loaded, unloaded or read. `Display` is one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The calling process is not root.
    #[error("congestion control can be loaded, unloaded and read by root only")]
    NotRoot,
    /// The kernel has no description of its types.
    #[error("{file}: is missing, expected a kernel built with CONFIG_DEBUG_INFO_BTF")]
    NoBtf {
        /// Where it should be.
        file: &'static str,
    },
    /// The kernel is too old.
    #[error("the kernel is {release}, expected {}.{} or newer, which can keep a congestion control loaded", oldest.0, oldest.1)]
    OldKernel {
        /// The kernel's release, as it calls itself.
        release: String,
        /// The oldest major and minor version that will do.
        oldest: (u32, u32),
    },
    /// The machine lacks something that the programs need.
    #[error("this machine lacks {}", lacking.join(", "))]
    Lacking {
        /// What it lacks.
        lacking: Vec<&'static str>,
    },
    /// The BPF file system could not be mounted.
    #[error("{dir}: the BPF file system could not be mounted there: {reason}")]
    NoBpfFs {
        /// Where it belongs.
        dir: &'static str,
        /// Why.
        reason: io::Error,
    },
    /// There is no algorithm of that name.
    #[error("there is no algorithm \"{name}\", expected one of {}", known.join(", "))]
    UnknownAlgorithm {
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A setting is not of the form KEY=VALUE.
    #[error("--set {given}: expected KEY=VALUE")]
    NoKeyValue {
        /// What was given.
        given: String,
    },
    /// The algorithm has no such setting.
    #[error("{algorithm} has no setting {key}, expected one of {}", known.join(", "))]
    UnknownSetting {
        /// The algorithm.
        algorithm: &'static str,
        /// The setting given.
        key: String,
        /// The settings there are.
        known: Vec<&'static str>,
    },
    /// A setting has a value that cannot be.
    #[error("{algorithm}: {error}")]
    Setting {
        /// The algorithm.
        algorithm: &'static str,
        /// What is wrong.
        error: ConfigError,
    },
    /// A setting exceeds what fixed-point numbers hold.
    #[error(
        "{algorithm}: {key} is {value} but must be at most {largest}, because the kernel computes in fixed point"
    )]
    TooLarge {
        /// The algorithm.
        algorithm: &'static str,
        /// The setting.
        key: &'static str,
        /// The setting's value.
        value: f64,
        /// The largest value.
        largest: f64,
    },
    /// A congestion control of that name is loaded already.
    #[error("{name} is loaded already; losscause kernel unload {name} removes it")]
    AlreadyLoaded {
        /// The name.
        name: &'static str,
    },
    /// No congestion control of that name is loaded.
    #[error("{name} is not loaded")]
    NotLoaded {
        /// The name.
        name: &'static str,
    },
    /// Another process loads, unloads or reads programs.
    #[error("the kernel's programs are in use by another process of losscause")]
    Busy,
    /// Another process reads its log.
    #[error(
        "the judgements of {name} are read by another process; only one can read them at a time"
    )]
    LogInUse {
        /// The name.
        name: &'static str,
    },
    /// Connections use the program.
    #[error(
        "{name} is in use by {}: {}{}; --force unloads it all the same, and they keep it until they close",
        if connections.len() == 1 { "1 connection".to_owned() } else { format!("{} connections", connections.len()) },
        connections[..connections.len().min(SHOWN)].join(", "),
        if connections.len() > SHOWN { format!(" and {} more", connections.len() - SHOWN) } else { String::new() }
    )]
    InUse {
        /// The name.
        name: &'static str,
        /// The connections, each as `local > remote`.
        connections: Vec<String>,
    },
    /// New connections would go on using the program.
    #[error(
        "{name} is the default of {}; sysctl -w net.ipv4.tcp_congestion_control=NAME there chooses another",
        namespaces.join(", ")
    )]
    IsDefault {
        /// The name.
        name: &'static str,
        /// The network namespaces: this one, and others as `/proc/PID/ns/net` links to them.
        namespaces: Vec<String>,
    },
    /// A filter cannot be used.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A filter names a process.
    #[error(
        "--only process=…: a connection is chosen before its process is known, expected port, prefix or cgroup"
    )]
    ByProcess,
    /// No control groups are mounted.
    #[error("no control groups of version 2 are mounted, expected them at /sys/fs/cgroup")]
    NoCgroups,
    /// The kernel refused a program.
    #[error("the kernel refused {name} ({step}): {error}")]
    Refused {
        /// The program.
        name: &'static str,
        /// What was being done.
        step: &'static str,
        /// The kernel's error, and the first thing that libbpf said about it.
        error: String,
    },
    /// A file could not be read, written or removed.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// Why.
        reason: io::Error,
    },
    /// A clock could not be read.
    #[error("the clock cannot be read: {reason}")]
    Clock {
        /// Why.
        reason: io::Error,
    },
    /// A record is not of the size that this version writes.
    #[error(
        "{name} was loaded by another version of losscause; unload it with --force and load it again"
    )]
    OtherVersion {
        /// The program.
        name: &'static str,
    },
}

/// How many connections an error names.
const SHOWN: usize = 4;

impl KernelError {
    /// Whether the input or the machine is at fault rather than a run that failed.
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, Self::Refused { .. } | Self::File { .. } | Self::Clock { .. })
    }
}

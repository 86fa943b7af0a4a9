//! What a machine lacks for building the kernel part of losscause: [`missing`] says it in one
//! sentence.
//!
//! libbpf, which is built in, is compiled by the build script of `libbpf-sys`. Without libelf that
//! script prints pages of make and compiler. A build script cannot run before that of a crate from
//! elsewhere by a dependency, but by cargo's order: of all that can be started, cargo starts what
//! most other steps wait for. The script of this crate waits for nothing, and one step more waits
//! for it than for that of `libbpf-sys`: losscause-linux's own build script depends on this crate.

/// A machine, as far as it can be asked.
pub struct Machine<'a> {
    /// The value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Runs a program with arguments, and gives its standard output if it succeeds.
    pub run: &'a dyn Fn(&str, &[&str]) -> Option<String>,
    /// Whether a program in C compiles and links with these flags.
    pub links: &'a dyn Fn(&str, &[&str]) -> bool,
}

/// A tool or a library.
struct Need {
    name: &'static str,
    /// The package that has it, in Debian and Ubuntu.
    package: &'static str,
    is_there: fn(&Machine<'_>) -> bool,
}

const NEEDS: [Need; 5] = [
    Need { name: "a clang that knows eBPF", package: "clang", is_there: has_clang },
    Need {
        name: "make",
        package: "make",
        is_there: |machine| (machine.run)("make", &["--version"]).is_some(),
    },
    Need { name: "pkg-config", package: "pkg-config", is_there: has_pkg_config },
    Need {
        name: "libelf",
        package: "libelf-dev",
        is_there: |machine| has_library(machine, "libelf", "-lelf", LIBELF),
    },
    Need {
        name: "zlib",
        package: "zlib1g-dev",
        is_there: |machine| has_library(machine, "zlib", "-lz", ZLIB),
    },
];

const LIBELF: &str =
    "#include <gelf.h>\nint main(void) { return elf_version(EV_CURRENT) == EV_NONE; }\n";
const ZLIB: &str = "#include <zlib.h>\nint main(void) { return zlibVersion() == Z_NULL; }\n";

/// What `machine` lacks, and how to get it; none if it lacks nothing.
pub fn missing(machine: &Machine<'_>) -> Option<String> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !(need.is_there)(machine)).collect();
    if missing.is_empty() {
        return None;
    }
    let list = |word: fn(&Need) -> &'static str| {
        missing.iter().map(|need| word(need)).collect::<Vec<_>>().join(", ")
    };
    Some(format!(
        "the feature \"linux\" (of losscause-linux: \"kernel\") needs {}: install {} (Debian, Ubuntu), or build without it",
        list(|need| need.name),
        list(|need| need.package)
    ))
}

fn has_clang(machine: &Machine<'_>) -> bool {
    let clang = (machine.variable)("CLANG").unwrap_or_else(|| "clang".to_owned());
    let targets = (machine.run)(&clang, &["-print-targets"]);
    targets.is_some_and(|targets| targets.lines().any(|line| line.trim_start().starts_with("bpf")))
}

fn pkg_config(machine: &Machine<'_>) -> String {
    (machine.variable)("PKG_CONFIG").unwrap_or_else(|| "pkg-config".to_owned())
}

fn has_pkg_config(machine: &Machine<'_>) -> bool {
    (machine.run)(&pkg_config(machine), &["--version"]).is_some()
}

/// As libbpf's Makefile looks for it: where pkg-config knows nothing, the compiler may still find
/// it.
fn has_library(machine: &Machine<'_>, name: &str, flag: &str, program: &str) -> bool {
    const PLACES: [&str; 2] = ["LIBBPF_SYS_EXTRA_CFLAGS", "LIBBPF_SYS_LIBRARY_PATH"];
    if PLACES.iter().any(|key| (machine.variable)(key).is_some()) {
        return true;
    }
    let told = (machine.run)(&pkg_config(machine), &["--cflags", "--libs", name])
        .unwrap_or_else(|| flag.to_owned());
    (machine.links)(program, &told.split_whitespace().collect::<Vec<_>>())
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

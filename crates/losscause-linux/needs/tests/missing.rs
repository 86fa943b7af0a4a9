//! What is said of machines that lack something; and the build script itself, on a machine that has
//! nothing.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;
use std::process::Command;

use losscause_linux_needs::{Machine, missing};

/// The sentence about a machine that has these programs, whose compiler finds these libraries.
fn sentence(programs: &[&str], libraries: &[&str], variables: &[(&str, &str)]) -> Option<String> {
    let variable = |key: &str| {
        variables.iter().find(|(known, _)| *known == key).map(|(_, value)| (*value).to_owned())
    };
    let run = |program: &str, arguments: &[&str]| {
        let answer = match arguments {
            ["-print-targets"] => {
                "  Registered Targets:\n    bpf    - BPF (host endian)\n    x86-64 - 64-bit X86"
            }
            ["--version"] => "1",
            // It knows no library, as without its `.pc` files.
            _ => return None,
        };
        programs.contains(&program).then(|| answer.to_owned())
    };
    let links = |_: &str, flags: &[&str]| flags.iter().all(|flag| libraries.contains(flag));
    missing(&Machine { variable: &variable, run: &run, links: &links })
}

const PROGRAMS: [&str; 3] = ["clang", "make", "pkg-config"];
const LIBRARIES: [&str; 2] = ["-lelf", "-lz"];

fn refusal(needs: &str, install: &str) -> Option<String> {
    let feature = "the feature \"linux\" (of losscause-linux: \"kernel\")";
    Some(format!(
        "{feature} needs {needs}: install {install} (Debian, Ubuntu), or build without it"
    ))
}

#[test]
fn a_machine_that_has_everything_builds() {
    assert_eq!(sentence(&PROGRAMS, &LIBRARIES, &[]), None);
}

#[test]
fn what_is_missing_is_named_with_its_package_and_the_feature() {
    let without = |program: &str| {
        let programs: Vec<&str> = PROGRAMS.into_iter().filter(|name| *name != program).collect();
        sentence(&programs, &LIBRARIES, &[])
    };
    assert_eq!(without("clang"), refusal("a clang that knows eBPF", "clang"));
    assert_eq!(without("make"), refusal("make", "make"));
    assert_eq!(without("pkg-config"), refusal("pkg-config", "pkg-config"));
    assert_eq!(sentence(&PROGRAMS, &["-lz"], &[]), refusal("libelf", "libelf-dev"));
    assert_eq!(sentence(&PROGRAMS, &["-lelf"], &[]), refusal("zlib", "zlib1g-dev"));
    assert_eq!(sentence(&PROGRAMS, &[], &[]), refusal("libelf, zlib", "libelf-dev, zlib1g-dev"));
}

#[test]
fn variables_name_other_programs_and_places() {
    let named = [("CLANG", "clang-19"), ("PKG_CONFIG", "pkgconf")];
    assert_eq!(sentence(&["clang-19", "make", "pkgconf"], &LIBRARIES, &named), None);
    assert_eq!(
        sentence(&PROGRAMS, &LIBRARIES, &named[..1]),
        refusal("a clang that knows eBPF", "clang")
    );
    assert_eq!(sentence(&PROGRAMS, &[], &[("LIBBPF_SYS_EXTRA_CFLAGS", "-I/cross/include")]), None);
}

/// Compiles the build script, which needs nothing but the standard library, and runs it with a path
/// that has no program.
#[test]
fn the_build_script_ends_the_build_on_linux_only_if_wanted() {
    let place = tempfile::tempdir().unwrap();
    let script = place.path().join("script");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
    let compiled = Command::new(rustc)
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(source)
        .status()
        .unwrap();
    assert!(compiled.success());
    let errors = |os: &str, is_wanted: bool| {
        let mut run = Command::new(&script);
        run.env_clear()
            .env("PATH", place.path())
            .env("OUT_DIR", place.path())
            .env("CARGO_CFG_TARGET_OS", os);
        let output = run.envs(is_wanted.then_some(("CARGO_FEATURE_CHECK", "1"))).output().unwrap();
        assert!(output.status.success());
        let printed = String::from_utf8(output.stdout).unwrap();
        printed
            .lines()
            .filter_map(|line| line.strip_prefix("cargo::error="))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let everything = refusal(
        "a clang that knows eBPF, make, pkg-config, libelf, zlib",
        "clang, make, pkg-config, libelf-dev, zlib1g-dev",
    );
    assert_eq!(errors("linux", true), [everything.unwrap()]);
    assert_eq!(errors("linux", false), [""; 0]);
    assert_eq!(errors("macos", true), [""; 0]);
}

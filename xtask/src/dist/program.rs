//! The command with all its parts, optimised as a whole and linked statically.
//!
//! It is linked with glibc, not with musl: libelf, which libbpf reads the kernel's programs with,
//! does not build with Debian's musl, which lacks argp, fts and obstack. glibc finds addresses of
//! names (`stream HOST`) also when it is linked statically, since the parts that ask files and DNS
//! are inside; others of `nsswitch.conf` are left out.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::Release;
use super::processor::Processor;
use crate::checks::OPTIONAL_PARTS_BUILD;
use crate::shell::{cargo, command, output, root, run, target};
use crate::tools::{self, Tool};

/// Between two flags in `CARGO_ENCODED_RUSTFLAGS`.
const NEXT: &str = "\x1f";

/// The program for `processor`.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    processor: Processor,
}

impl Program {
    /// What it prints. Another processor's program runs in an emulator.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let mut command = if self.processor.is_this_machines() {
            Command::new(&self.path)
        } else {
            let mut emulator = Command::new(self.processor.emulator());
            emulator.arg(&self.path);
            emulator
        };
        output(command.args(arguments))
    }
}

/// Builds it in a folder of its own, so that no other build's flags are in it.
pub(super) fn build(processor: Processor, release: &Release) -> Result<Program> {
    tools::ensure(OPTIONAL_PARTS_BUILD)?;
    let triple = processor.target();
    let folder = target().join("dist-build");
    let mut build = cargo("build --locked --quiet --profile dist --package losscause-cli");
    build.args(["--bin", "losscause", "--features", "full", "--target", &triple, "--target-dir"]);
    build.arg(&folder).envs(variables(true, release)?);
    if !processor.is_this_machines() {
        Tool::AARCH64.ensure()?;
        cross_compile(&mut build)?;
    }
    run(build)?;
    Ok(Program { path: folder.join(triple).join("dist/losscause"), processor })
}

/// The folders of this machine, and their names in what is compiled. A later one of two that hold
/// a file decides.
fn names() -> Result<[(PathBuf, &'static str); 3]> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    Ok([(home, "cargo"), (root(), "losscause"), (target(), "target")])
}

/// Variables of cargo under which no path and no time of this machine is in the result. With
/// `is_static`, everything is linked statically.
pub(super) fn variables(is_static: bool, release: &Release) -> Result<[(&'static str, String); 3]> {
    let names = names()?;
    let mapped = |option| {
        names.iter().map(move |(folder, name)| format!("{option}={}={name}", folder.display()))
    };
    let linked = is_static.then(|| "-Ctarget-feature=+crt-static".to_owned());
    let rust: Vec<String> = mapped("--remap-path-prefix").chain(linked).collect();
    let c: Vec<String> = mapped("-ffile-prefix-map").collect();
    Ok([
        ("CARGO_ENCODED_RUSTFLAGS", rust.join(NEXT)),
        ("CFLAGS", c.join(" ")),
        ("SOURCE_DATE_EPOCH", release.epoch_s.to_string()),
    ])
}

/// Lets `build` compile for aarch64, with Debian's compiler and libraries for it.
fn cross_compile(build: &mut Command) -> Result<()> {
    let libraries = aarch64_libraries()?;
    build
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .env("LIBBPF_SYS_EXTRA_CFLAGS", format!("-I{}", libraries.join("usr/include").display()))
        .env("LIBBPF_SYS_LIBRARY_PATH", libraries.join("usr/lib/aarch64-linux-gnu"));
    Ok(())
}

/// A folder with libelf and zlib for aarch64. They are fetched beside those of this machine, whose
/// package manager keeps its settings.
fn aarch64_libraries() -> Result<PathBuf> {
    let folder = target().join("tools/aarch64");
    if folder.join("usr/lib/aarch64-linux-gnu/libelf.a").is_file() {
        return Ok(folder);
    }
    for name in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(folder.join(name))?;
    }
    let lists = format!("Dir::State::Lists={}", folder.join("lists").display());
    let cache = format!("Dir::Cache={}", folder.join("cache").display());
    for words in ["update", "download libelf-dev zlib1g-dev"] {
        let mut apt =
            command("apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64");
        apt.args(["-o", "APT::Sandbox::User=root", "-o", &lists, "-o", &cache]);
        run(apt.args(words.split(' ')).current_dir(&folder))?;
    }
    for entry in fs::read_dir(&folder)? {
        let file = entry?.path();
        if file.extension().is_some_and(|ending| ending == "deb") {
            run(command("dpkg-deb --extract").arg(&file).arg(&folder))?;
        }
    }
    Ok(folder)
}

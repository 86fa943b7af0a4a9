//! The command with all its parts, optimised as a whole and linked statically.
//!
//! It is linked with glibc, not with musl: libelf, which libbpf reads the kernel's programs with,
//! does not build with Debian's musl, which lacks argp, fts and obstack. glibc finds addresses of
//! names (`stream HOST`) also when it is linked statically, since the parts that ask files and DNS
//! are inside; others of `nsswitch.conf` are left out.

use std::env;
use std::fs;
use std::iter;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::Release;
use super::processor::Processor;
use super::profile;
use crate::checks::OPTIONAL_PARTS_BUILD;
use crate::shell::{cargo, command, fresh, output, program, root, run, target, write};
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
    /// It, to be started. Another processor's program runs in an emulator.
    pub(super) fn command(&self) -> Command {
        if self.processor.is_this_machines() {
            return program(&self.path);
        }
        let mut emulator = program(self.processor.emulator());
        emulator.arg(&self.path);
        emulator
    }

    /// What it prints.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        output(self.command().args(arguments))
    }
}

/// Builds it with the recorded profile.
pub(super) fn build(processor: Processor, release: &Release) -> Result<Program> {
    built(processor, release, "dist-build", profile::options(processor)?)
}

/// Builds it with options of rustc, in a folder of its own, so that no other build's are in it.
pub(super) fn built(
    processor: Processor,
    release: &Release,
    folder: &str,
    options: Vec<String>,
) -> Result<Program> {
    tools::ensure(OPTIONAL_PARTS_BUILD)?;
    let triple = processor.target();
    let folder = target().join(folder);
    let options = iter::once("-Ctarget-feature=+crt-static".to_owned()).chain(options);
    let mut build = cargo("build --locked --quiet --profile dist --package losscause-cli");
    build.args(["--bin", "losscause", "--features", "full", "--target", &triple, "--target-dir"]);
    build.arg(&folder).envs(variables(options, release)?);
    if !processor.is_this_machines() {
        build.envs(cross_compile()?);
    }
    run(build)?;
    Ok(Program { path: folder.join(triple).join("dist/losscause"), processor })
}

/// The folders of this machine, and their names in what is compiled. A later one of two that hold
/// a file decides.
pub(super) fn folders() -> Result<[(PathBuf, &'static str); 4]> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    // Compilers of C see where a symbolic link leads.
    let registry = home.join("registry");
    let registry = fs::canonicalize(&registry).unwrap_or(registry);
    Ok([(home, "cargo"), (registry, "cargo/registry"), (root(), "losscause"), (target(), "target")])
}

/// An option of a compiler for each of these folders, under which it writes their names instead.
fn mapped(option: &str) -> Result<Vec<String>> {
    let folders = folders()?.into_iter();
    Ok(folders.map(|(folder, name)| format!("{option}={}={name}", folder.display())).collect())
}

/// The options of rustc under which no path of this machine is in the result.
pub(crate) fn without_folders() -> Result<Vec<String>> {
    mapped("--remap-path-prefix")
}

/// Variables of cargo under which no path and no time of this machine is in the result, and with
/// more options of rustc.
pub(super) fn variables(
    options: impl IntoIterator<Item = String>,
    release: &Release,
) -> Result<[(&'static str, String); 3]> {
    let rust: Vec<String> = without_folders()?.into_iter().chain(options).collect();
    Ok([
        ("CARGO_ENCODED_RUSTFLAGS", rust.join(NEXT)),
        ("CFLAGS", mapped("-ffile-prefix-map")?.join(" ")),
        ("SOURCE_DATE_EPOCH", release.epoch_s.to_string()),
    ])
}

/// Variables that let cargo compile for aarch64, with Debian's compiler and libraries for it.
pub(super) fn cross_compile() -> Result<[(&'static str, String); 3]> {
    Tool::AARCH64.ensure()?;
    let libraries = of_aarch64("aarch64", "download libelf-dev libelf1 zlib1g-dev zlib1g")?;
    let within = |folder: &str| libraries.join(folder).display().to_string();
    Ok([
        ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc".to_owned()),
        ("LIBBPF_SYS_EXTRA_CFLAGS", format!("-I{}", within("usr/include"))),
        ("LIBBPF_SYS_LIBRARY_PATH", within("usr/lib/aarch64-linux-gnu")),
    ])
}

/// A folder with Debian's Python for aarch64, and all that it needs.
pub(super) fn aarch64_python() -> Result<PathBuf> {
    of_aarch64("aarch64-python", "install --yes --download-only --no-install-recommends python3")
}

/// A folder below `tools` with what packages of Debian for aarch64 hold, by the words for apt-get
/// that fetch them. They stand beside those of this machine, whose package manager keeps its
/// settings.
fn of_aarch64(name: &str, fetch: &str) -> Result<PathBuf> {
    let place = target().join("tools").join(name);
    let folder = place.join("root");
    if folder.is_dir() {
        return Ok(folder);
    }
    let archives = place.join("cache/archives");
    for name in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(place.join(name))?;
    }
    let installed = place.join("status");
    write(&installed, "")?;
    let lists = format!("Dir::State::Lists={}", place.join("lists").display());
    let cache = format!("Dir::Cache={}", place.join("cache").display());
    let none = format!("Dir::State::status={}", installed.display());
    for words in ["update", fetch] {
        let mut apt =
            command("apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64");
        apt.args(["-o", "APT::Sandbox::User=root", "-o", &lists, "-o", &cache, "-o", &none]);
        output(apt.args(words.split(' ')).current_dir(&archives))?;
    }
    // Its name comes last: a folder that is there is whole.
    let unfinished = fresh(place.join("unfinished"))?;
    for entry in fs::read_dir(&archives)? {
        let file = entry?.path();
        if file.extension().is_some_and(|ending| ending == "deb") {
            run(command("dpkg-deb --extract").arg(&file).arg(&unfinished))?;
        }
    }
    fs::rename(unfinished, &folder)?;
    Ok(folder)
}

//! The recorded profile: how often the branches of the program ran in [`WORKLOADS`], for which the
//! compiler arranges them.
//!
//! The compiler finds a function by its name, which depends on the processor, the compiler, and its
//! crate's version, options and dependencies. One that is not in the profile, or has changed since,
//! is compiled as without a profile, not as one that never runs.

use std::path::Path;

use anyhow::Result;

use super::Release;
use super::processor::Processor;
use super::program;
use crate::shell::{self, command, output, read, root, run, target, text, write};
use crate::tools::Tool;

/// Arguments of the program that is counted; `{}` is an empty folder.
const WORKLOADS: [&str; 12] = [
    "reproduce cen2003/table6 --runs 1 --jobs 1",
    "reproduce barman2002/table2 --runs 1 --jobs 1",
    "simulate papers/barman2002/scenarios/config2.toml --set tcp.mode=ns2-classic --set duration_s=1000",
    "simulate scenarios/parking-lot.toml --set duration_s=300",
    "simulate scenarios/wifi.toml --set duration_s=240 --pcap {}/wifi",
    "analyze {}/wifi/sender.pcap --format json",
    "analyze {}/wifi/receiver.pcap",
    "analyze {}/wifi/bottleneck.pcap",
    "simulate scenarios/home-queue.toml --set duration_s=2400 --pcap {}/home",
    "analyze {}/home/sender.pcap",
    "analyze {}/home/receiver.pcap --format json",
    "analyze {}/home/bottleneck.pcap",
];

/// The profile, and how it was recorded.
fn files(processor: Processor) -> [String; 2] {
    ["profdata.gz", "toml"].map(|ending| format!("packaging/profile-{processor}.{ending}"))
}

/// What the names of functions depend on.
fn names() -> Result<String> {
    let [compiler, packages] = ["rustc --version", "sha256sum Cargo.lock"].map(command).map(text);
    Ok(format!("{}, Cargo.lock {:.16}", compiler?, packages?))
}

/// The compiler's options that use the profile, if there is one for this processor.
pub(super) fn options(processor: Processor) -> Result<Vec<String>> {
    let [profile, origin] = files(processor);
    if !root().join(&profile).exists() {
        return Ok(Vec::new());
    }
    if !read(&origin)?.contains(&names()?) {
        println!(
            "{origin}: recorded with another compiler or other dependencies, and what they changed is compiled without it; \
             `cargo xtask dist --record` renews it"
        );
    }
    // Named by its sum: cargo compiles anew for other options, not for another file.
    let sum = text(command("sha256sum").arg(&profile))?;
    let file = target().join(format!("{sum:.16}.profdata"));
    if !file.exists() {
        write(&file, output(command("gzip --decompress --stdout").arg(&profile))?)?;
    }
    // Of functions that have changed since, there is no warning.
    let quietly = "-Cllvm-args=-no-pgo-warn-mismatch".to_owned();
    Ok(vec![format!("-Cprofile-use={}", file.display()), quietly])
}

/// Renews the profile by a program that counts.
pub(super) fn record(processor: Processor, release: &Release) -> Result<()> {
    Tool::LLVM_PROFDATA.ensure()?;
    let options = vec!["-Cprofile-generate".to_owned()];
    let program = program::built(processor, release, "dist-count", options)?;
    let place = tempfile::tempdir()?;
    for words in WORKLOADS {
        println!("losscause {words}");
        let words = words.replace("{}", &place.path().display().to_string());
        let counted = place.path().join("counted/%p.profraw");
        output(program.command().args(words.split(' ')).env("LLVM_PROFILE_FILE", counted))?;
    }
    let libraries = text(command("rustc --print target-libdir"))?;
    let mut merge = shell::program(Path::new(&libraries).join("../bin/llvm-profdata"));
    let merged = place.path().join("profdata");
    // Sparse: without the functions that never ran.
    merge.args(["merge", "--sparse", "--output"]).arg(&merged);
    run(merge.arg(place.path().join("counted")))?;
    let [profile, origin] = files(processor);
    write(&profile, output(command("gzip -9n --stdout").arg(&merged))?)?;
    let commit = text(command("git rev-parse HEAD"))?;
    write(
        origin,
        format!(
            "# How {profile} was recorded, by `cargo xtask dist --record`.\ncommit = {commit:?}\nnames = {:?}\nworkloads = {WORKLOADS:#?}\n",
            names()?
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_profile_is_one_that_the_compiler_reads() {
        let options = options(Processor::X86_64).unwrap();
        let file = options[0].strip_prefix("-Cprofile-use=").unwrap();
        assert!(std::fs::read(file).unwrap().starts_with(b"\xfflprofi\x81"));
        let [_, origin] = files(Processor::X86_64);
        let origin: toml::Table = toml::from_str(&read(origin).unwrap()).unwrap();
        assert!(origin["names"].as_str().is_some_and(|names| names.starts_with("rustc ")));
    }
}

//! With the feature `check`, ends a build on Linux that could not succeed, with one sentence.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs, io};

#[path = "src/lib.rs"]
#[expect(unreachable_pub, reason = "it is public in the library")]
mod needs;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    ["CLANG", "PKG_CONFIG", "CC", "CFLAGS"]
        .iter()
        .for_each(|key| println!("cargo::rerun-if-env-changed={key}"));
    let is_wanted = env::var_os("CARGO_FEATURE_CHECK").is_some();
    if !is_wanted || env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os != "linux") {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let variable = |key: &str| env::var(key).ok();
    let links = |program: &str, flags: &[&str]| links(program, flags, &out).unwrap_or(false);
    if let Some(sentence) =
        needs::missing(&needs::Machine { variable: &variable, run: &run, links: &links })
    {
        let builds = out.ancestors().nth(2).unwrap_or(&out);
        (0..PATIENCE_S * 10)
            .take_while(|_| libbpf_is_built(builds))
            .for_each(|_| sleep(Duration::from_millis(100)));
        println!("cargo::error={sentence}");
    }
    Ok(())
}

/// How long to wait for another script.
const PATIENCE_S: u32 = 60;

/// Whether the build script of libbpf-sys runs at the same time. Where an earlier build has
/// compiled it already and there are cores enough, cargo starts both at once: then the sentence
/// should stand below the other's pages, not above.
fn libbpf_is_built(builds: &Path) -> bool {
    let runs = |process: fs::DirEntry| {
        let program = fs::read_link(process.path().join("exe")).ok();
        program.is_some_and(|program| {
            program
                .strip_prefix(builds)
                .is_ok_and(|place| place.to_string_lossy().starts_with("libbpf-sys-"))
        })
    };
    fs::read_dir("/proc").is_ok_and(|processes| processes.flatten().any(runs))
}

fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn links(program: &str, flags: &[&str], out: &Path) -> io::Result<bool> {
    let words = |key: &str| {
        env::var(key).unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let named = words("CC");
    let (compiler, arguments) =
        named.split_first().map_or(("cc", &[][..]), |(first, rest)| (first, rest));
    let mut compile = Command::new(compiler);
    compile
        .args(arguments)
        .args(words("CFLAGS"))
        .args(["-x", "c", "-", "-x", "none", "-o"])
        .arg(out.join("probe"));
    let mut child = compile
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // The pipe closes at the end of this statement.
    child.stdin.take().map_or(Ok(()), |mut source| source.write_all(program.as_bytes()))?;
    Ok(child.wait()?.success())
}

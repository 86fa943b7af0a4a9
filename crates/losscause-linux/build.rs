//! Compiles the eBPF programs in `bpf/` with clang, and writes `programs.rs`, a table of the
//! objects.
//!
//! That there is a clang that knows eBPF has been checked: losscause-linux-needs did.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let mut table = String::from("&[\n");
    let wanted = env::var_os("CARGO_FEATURE_KERNEL").is_some();
    if wanted && env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        for source in sources(Path::new("bpf"))? {
            let name = source
                .file_name()
                .and_then(|name| name.to_str()?.strip_suffix(".bpf.c"))
                .unwrap_or_default();
            let object = out.join(format!("{name}.o"));
            compile(&clang, &source, &object)?;
            table += &format!("    ({name:?}, include_bytes!({object:?})),\n");
        }
    }
    fs::write(out.join("programs.rs"), table + "]\n")
}

fn sources(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".bpf.c") {
            sources.push(path);
        }
    }
    sources.sort();
    Ok(sources)
}

fn compile(clang: &str, source: &Path, object: &Path) -> io::Result<()> {
    let mut command = Command::new(clang);
    // The object names its sources; the same sources give the same object in any folder.
    let here = env::current_dir()?;
    command.arg(format!("-ffile-prefix-map={}=losscause-linux", here.display()));
    // -g: libbpf needs the types (BTF).
    command.args([
        "-target",
        "bpf",
        "-mcpu=v3",
        "-g",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror",
    ]);
    let status = command.arg("-c").arg(source).arg("-o").arg(object).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("{clang} could not compile {}", source.display())));
    }
    Ok(())
}

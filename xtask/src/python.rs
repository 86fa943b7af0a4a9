//! `cargo xtask python`: the Python package, built as its users get it and tested in a virtual environment that is removed
//! at the end. Nothing of the system's Python is changed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell::{cargo, command, losscause, root, run};
use crate::tools::Tool;

/// The arguments of `python`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Also measure: import time, rows and packets per second, the cost of an algorithm in Python
    #[arg(long)]
    bench: bool,
}

/// The interpreter that makes the environment.
pub(crate) const INTERPRETER: &str = "python3";

/// Exits with 0 if the interpreter is one that the package supports and can make environments.
pub(crate) const IS_USABLE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// Cargo's profile for the wheel.
const PROFILE: &str = "wheel";

/// A larger wheel is refused, bytes.
const LARGEST_WHEEL: u64 = 5_000_000;

/// Tests the package; where Python is missing, says so. With `CI=true` that is a failure.
///
/// # Errors
/// The wheel cannot be built or is too large, or a test fails.
pub(crate) fn python(options: &Options) -> Result<()> {
    if !Tool::Python.present() {
        if env::var("CI").is_ok_and(|ci| ci == "true") {
            bail!("{} is missing", Tool::Python.name());
        }
        println!(
            "skipped: the Python package ({} is missing)\nsteps: 0 passed, 0 failed, 1 skipped",
            Tool::Python.name()
        );
        return Ok(());
    }
    let environment = tested()?;
    if options.bench {
        for script in ["costs.py", "sweeps.py"] {
            let script = root().join("python/benchmarks").join(script);
            run(environment.command("python").arg(script).current_dir(environment.place.path()))?;
        }
    }
    Ok(())
}

/// As one of the steps of a test run: the wheel, its stubs, its types and its tests.
///
/// # Errors
/// As [`python`].
pub(crate) fn test() -> Result<()> {
    tested().map(|_| ())
}

/// Compiles what maturin packs, with its arguments.
///
/// # Errors
/// It cannot be compiled.
pub(crate) fn library() -> Result<()> {
    let build = ["rustc", "--quiet", "--profile", PROFILE, "--locked", "-p", "losscause-python", "--lib"];
    run(cargo().args(build).args(["--", "-C", "strip=symbols"]))
}

/// The environment in which the package was tested.
fn tested() -> Result<Environment> {
    let program = losscause()?;
    let environment = Environment::new()?;
    environment.install_package("test,ray,notebooks")?;
    // Outside of the repository, so that the installed package is found instead of its source.
    run(environment.command("stubtest").arg("losscause._losscause").current_dir(environment.place.path()))?;
    run(environment.command("mypy").args(["--config-file", "python/pyproject.toml", "python/losscause"]))?;
    // Skipped tests are named; with CI=true what they need is required.
    let pytest = ["--quiet", "-rs", "-p", "no:cacheprovider", "python/tests"];
    run(environment.command("pytest").args(pytest).env("LOSSCAUSE", program))?;
    Ok(environment)
}

/// A virtual environment in a temporary folder.
struct Environment {
    place: tempfile::TempDir,
}

impl Environment {
    fn new() -> Result<Self> {
        let place =
            tempfile::Builder::new().prefix("losscause-python-").tempdir().context("the temporary directory")?;
        run(command(INTERPRETER).args(["-m", "venv"]).arg(place.path().join("environment")))?;
        Ok(Self { place })
    }

    /// A program of the environment, which writes nothing into the repository.
    fn command(&self, program: &str) -> Command {
        let folder = self.place.path().join("environment").join(if cfg!(windows) { "Scripts" } else { "bin" });
        let mut command = command(&folder.join(program).to_string_lossy());
        command
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("MYPY_CACHE_DIR", self.place.path().join("mypy"))
            .env("HYPOTHESIS_STORAGE_DIRECTORY", self.place.path().join("hypothesis"));
        command
    }

    fn pip_install(&self, what: &str) -> Result<()> {
        run(self.command("python").args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", what]))
    }

    /// Builds the wheel and installs it with what the extra `extra` needs.
    fn install_package(&self, extra: &str) -> Result<()> {
        self.pip_install("maturin>=1.9,<2")?;
        let wheels = self.place.path().join("wheels");
        let build = ["-m", "maturin", "build", "--profile", PROFILE, "--locked", "--quiet", "--out"];
        run(self
            .command("python")
            .args(build)
            .arg(&wheels)
            .current_dir(root().join("python"))
            .env("CARGO_INCREMENTAL", "0"))?;
        let wheel = only_file(&wheels)?;
        let (size, name) = (fs::metadata(&wheel)?.len(), wheel.file_name().unwrap_or_default().to_string_lossy());
        println!("{name}: {:.2} MB", size as f64 / 1e6);
        if size > LARGEST_WHEEL {
            bail!("the wheel has {size} bytes, expected at most {LARGEST_WHEEL}");
        }
        self.pip_install(&format!("{}[{extra}]", wheel.display()))
    }
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    files.next().context("no wheel was built")?.map(|entry| entry.path()).context("the wheel")
}

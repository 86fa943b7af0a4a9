//! Packages, each installed in an empty place and run there: a root with nothing but the package,
//! or a virtual environment without a network. There is no compiler, no library and no shell.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::contents::{CAPTURE, CAPTURE_IN_PACKAGE};
use super::processor::Processor;
use super::program;
use crate::pages::markdown::{self, Kind};
use crate::python::Environment;
use crate::shell::{command, is_root, output, read, root, run, write};
use crate::tools::Tool;

/// A command line behind `losscause`, and a part of what it prints. `{capture}` is the capture that
/// packages hold.
type Asked = (&'static [&'static str], &'static str);

/// What every package answers.
const ANSWERS: [Asked; 3] = [
    (&["reproduce", "cen2003/table2"], "published numbers are within tolerance"),
    (&["analyze", "{capture}"], "1 flow. Clear: the air, not a queue ("),
    (&["init", "wifi"], "wifi.toml"),
];

/// What the command with all parts does where root may make devices and load programs.
const ANSWERS_OF_ROOT: [Asked; 2] = [
    (&["emulate", "wifi.toml", "--format", "json", "--", "{program}", "--version"], EXIT_STATUS),
    (&["kernel", "load", CONGESTION_CONTROL], "is loaded"),
];

/// What `emulate` says of a command that did well.
const EXIT_STATUS: &str = "\"exit_status\": 0";
/// A yardstick, which no one uses.
const CONGESTION_CONTROL: &str = "lc_veno";

/// Unpacks the archive in an empty root and asks the program there.
pub(super) fn archive(file: &Path, processor: Processor) -> Result<()> {
    let at = Instant::now();
    let place = tempfile::tempdir()?;
    run(command("tar xzf").arg(file).arg("-C").arg(place.path()))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let folder = name.strip_suffix(".tar.gz").context("the archive's name")?;
    println!("{name}: unpacked, {:.1} s", at.elapsed().as_secs_f64());
    EmptyRoot { place, below: format!("/{folder}"), processor, interpreter: None }.ask(&name)
}

/// Installs the package in an empty root with dpkg and asks the program there.
pub(super) fn deb(file: &Path, processor: Processor) -> Result<()> {
    let at = Instant::now();
    let place = tempfile::tempdir()?;
    let of_dpkg = place.path().join("var/lib/dpkg");
    for folder in ["info", "updates"] {
        fs::create_dir_all(of_dpkg.join(folder))?;
    }
    write(of_dpkg.join("status"), "")?;
    let mut dpkg = command("dpkg --force-architecture --force-not-root --log=/dev/null --root");
    output(dpkg.arg(place.path()).arg("--install").arg(file))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    println!("{name}: installed, {:.1} s", at.elapsed().as_secs_f64());
    EmptyRoot { place, below: "/usr".to_owned(), processor, interpreter: None }.ask(&name)
}

/// Installs the wheel in a virtual environment, with nothing from a network, and asks its command.
pub(super) fn wheel(file: &Path, processor: Processor) -> Result<()> {
    let place = tempfile::tempdir()?;
    let environment = Environment::new()?;
    if !processor.is_this_machines() {
        return wheel_of_another(file, processor, &environment, place);
    }
    environment.pip_install(&["--no-index".to_owned(), file.display().to_string()])?;
    let capture = root().join(CAPTURE).display().to_string();
    let losscause = environment.command("losscause");
    let losscause = losscause.get_program().to_string_lossy();
    ask(&file.file_name().unwrap_or_default().to_string_lossy(), processor, |words| {
        let mut command = Command::new("sh");
        command.args(["-ec", ALONE, &*losscause]).args(put(words, &losscause, &capture));
        command.current_dir(place.path());
        command
    })
}

/// Runs a command; if root does, what it loads into the kernel ends with it.
const ALONE: &str = "own='mount -t bpf bpf /sys/fs/bpf; exec \"$0\" \"$@\"'; test \"$(id -u)\" = 0 || exec \"$0\" \"$@\"; \
                     exec unshare --mount --pid --fork --mount-proc sh -ec \"$own\" \"$0\" \"$@\"";

/// Installs the wheel for another processor beside that processor's Python, and asks its command.
fn wheel_of_another(
    file: &Path,
    processor: Processor,
    environment: &Environment,
    place: tempfile::TempDir,
) -> Result<()> {
    let mut python = command("cp --recursive --no-target-directory");
    run(python.arg(program::aarch64_python()?).arg(place.path()))?;
    let below = place.path().join(BESIDE_PYTHON);
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let tags = stem.rsplit('-').next().unwrap_or_default();
    let platform = tags.split('.').next().unwrap_or_default();
    let mut pip = vec!["--no-index", "--no-deps", "--only-binary=:all:", "--platform", platform];
    let target = format!("--target={}", below.display());
    let wheel = file.display().to_string();
    pip.extend([target.as_str(), &wheel]);
    environment.pip_install(&pip.into_iter().map(str::to_owned).collect::<Vec<_>>())?;
    write(below.join(CAPTURE_IN_PACKAGE), fs::read(root().join(CAPTURE))?)?;
    let interpreter = Some("/usr/bin/python3");
    EmptyRoot { place, below: format!("/{BESIDE_PYTHON}"), processor, interpreter }
        .ask(&file.file_name().unwrap_or_default().to_string_lossy())
}

/// The folder in an empty root that a wheel is installed in.
const BESIDE_PYTHON: &str = "packages";

/// Types what the README says under "Install" about the archive, in an empty folder with no
/// compiler on the path. Every package that it names must have been made.
pub(super) fn readme(folder: &Path) -> Result<()> {
    let readme = read("README.md")?;
    let blocks = installing(&readme);
    let place = tempfile::tempdir()?;
    for name in blocks.iter().flat_map(|block| block.split_whitespace()) {
        let is_archive = name.ends_with(".tar.gz");
        let is_package = is_archive || name.ends_with(".deb") || name.ends_with(".whl");
        if is_package && name.starts_with("losscause") {
            // The shell knows what a star in a name stands for.
            run(command("sh -c").arg(format!("ls -- {name}")).current_dir(folder))
                .with_context(|| format!("README.md: \"Install\" names {name}"))?;
        }
        if is_archive && folder.join(name).is_file() {
            fs::copy(folder.join(name), place.path().join(name))?;
        }
    }
    let typed = blocks.first().context("README.md: \"Install\" has no commands")?;
    let mut shell = Command::new("sh");
    shell.args(["-ec", typed]).current_dir(place.path());
    output(shell.env_clear().env("PATH", "/usr/bin:/bin"))?;
    println!("README.md: {} lines of \"Install\" were typed", typed.lines().count());
    Ok(())
}

/// The indented blocks below "## Install".
fn installing(readme: &str) -> Vec<String> {
    let (_, section) = readme.split_once("\n## Install\n").unwrap_or_default();
    let parts = markdown::parts(section.split("\n## ").next().unwrap_or_default());
    parts.into_iter().filter(|part| part.kind == Kind::Indented).map(|part| part.text).collect()
}

/// A root with nothing but a package, and its interpreter if it has one.
struct EmptyRoot {
    place: tempfile::TempDir,
    /// The folder of the package in it, such as `/usr`.
    below: String,
    processor: Processor,
    interpreter: Option<&'static str>,
}

impl EmptyRoot {
    fn ask(&self, name: &str) -> Result<()> {
        if !self.processor.is_this_machines() {
            fs::copy(self.processor.emulator(), self.place.path().join("emulator"))?;
        }
        ask(name, self.processor, |words| self.command(words))
    }

    /// `losscause WORDS` in the root. It has a `/proc`, a `/sys` and devices of its own if root may
    /// make them. What the kernel keeps for a file system of its own ends with it: what is loaded
    /// is unloaded.
    fn command(&self, words: &[&str]) -> Command {
        let mounts = "mount --bind \"$0\" \"$0\"; cd \"$0\"; mkdir -p proc sys dev; mount -t proc proc proc; mount -t sysfs sysfs sys; \
                      mount --rbind /dev dev; exec chroot . \"$@\"";
        let mut command = Command::new("unshare");
        if is_root().unwrap_or(false) {
            command.args(["--mount", "--pid", "--fork", "sh", "-ec", mounts]);
        } else {
            command.args(["--user", "--map-root-user", "chroot"]);
        }
        command.arg(self.place.path());
        if !self.processor.is_this_machines() {
            command.arg("/emulator");
        }
        command.args(self.interpreter);
        let program = format!("{}/bin/losscause", self.below);
        let capture = format!("{}/{CAPTURE_IN_PACKAGE}", self.below);
        command.arg(&program).args(put(words, &program, &capture));
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("PYTHONPATH", &self.below);
        command
    }
}

/// The registered congestion controls.
const REGISTERED: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

fn put(words: &[&str], program: &str, capture: &str) -> Vec<PathBuf> {
    let put = |word: &&str| match *word {
        "{program}" => program.into(),
        "{capture}" => capture.into(),
        other => other.into(),
    };
    words.iter().map(put).collect()
}

/// Asks a package all that can be asked here.
fn ask(name: &str, processor: Processor, command: impl Fn(&[&str]) -> Command) -> Result<()> {
    answers(name, &ANSWERS, &command)?;
    if !processor.is_this_machines() {
        println!("{name}: `emulate` and `kernel` are left out in an emulator of the processor");
    } else if !Tool::OWN_NETWORKS.present() {
        println!("{name}: `emulate` and `kernel` are left out, they take root and TUN devices");
    } else {
        let registered = read(REGISTERED)?;
        if registered.split_whitespace().any(|one| one == CONGESTION_CONTROL) {
            bail!("{CONGESTION_CONTROL} is loaded already: unload it first");
        }
        answers(name, &ANSWERS_OF_ROOT, command)?;
    }
    Ok(())
}

/// Runs each command of a package.
fn answers(name: &str, all: &[Asked], command: impl Fn(&[&str]) -> Command) -> Result<()> {
    for (words, expected) in all {
        let at = Instant::now();
        let mut asked = command(words);
        let answer = asked.stdin(Stdio::null()).output().context("it cannot be started")?;
        let printed = String::from_utf8_lossy(&answer.stdout);
        let shown = format!("losscause {}", words.join(" "));
        if !answer.status.success() || !printed.contains(expected) {
            let errors = String::from_utf8_lossy(&answer.stderr);
            bail!("{name}: `{shown}` ended with {}\n{printed}\n{errors}", answer.status);
        }
        let first = printed.lines().find(|line| line.contains(expected)).unwrap_or_default();
        println!("{name}: `{shown}`, {:.1} s: {}", at.elapsed().as_secs_f64(), first.trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_types_is_indented_below_install() {
        let readme = "# a\n\n    no\n\n## Install\n\ntext:\n\n    tar xzf a\n    b # c\n\n    d\n\n## Next\n\n    e\n";
        assert_eq!(installing(readme), ["tar xzf a\nb # c\n", "d\n"]);
    }

    #[test]
    fn the_readme_begins_with_the_archive() {
        let readme = read("README.md").unwrap();
        let blocks = installing(&readme);
        assert!(blocks[0].starts_with("tar xzf losscause-"), "{blocks:?}");
        assert_eq!(blocks[0].lines().count(), 3, "{blocks:?}");
    }
}

//! Commands run from the root of the repository, and its files.

use std::borrow::BorrowMut;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The root of the repository this program was built from.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The text of a file. A path is relative to the root of the repository, or absolute.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = root().join(path);
    fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
}

/// Writes a file, and the folders that it lacks; of its path as [`read`].
pub(crate) fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<()> {
    let path = root().join(path);
    let written = fs::create_dir_all(path.parent().unwrap_or(&path));
    written
        .and_then(|()| fs::write(&path, bytes))
        .with_context(|| format!("{} cannot be written", path.display()))
}

/// A text below `[workspace]` of Cargo.toml, by its key: "package.version".
pub(crate) fn workspace(key: &str) -> Result<String> {
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")?)?;
    let value = key.split('.').fold(manifest.get("workspace"), |value, key| value?.get(key));
    let text = value.and_then(toml::Value::as_str).map(str::to_owned);
    text.with_context(|| format!("Cargo.toml: workspace.{key} is missing"))
}

/// Cargo's target folder: the one that it has built this program in.
pub(crate) fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let folder = own.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    folder.map_or_else(|| root().join("target"), Path::to_path_buf)
}

/// What `cargo metadata` says of packages: with "--no-deps", of the workspace's.
pub(crate) fn packages<T: DeserializeOwned>(options: &str) -> Result<Vec<T>> {
    let metadata = output(cargo(&format!("metadata --format-version 1 {options}")))?;
    let mut metadata: Value = serde_json::from_slice(&metadata)?;
    serde_json::from_value(metadata["packages"].take()).context("`cargo metadata`: packages")
}

/// A command of words that hold no space, started at the root of the repository.
pub(crate) fn command(words: &str) -> Command {
    let mut words = words.split_whitespace();
    let mut command = program(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// A program by its path, started at the root of the repository.
pub(crate) fn program(path: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(path);
    command.current_dir(root());
    command
}

/// Cargo itself, as it called us. Nothing is compiled incrementally, which would take gigabytes of
/// disk.
pub(crate) fn cargo(words: &str) -> Command {
    let mut cargo = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words.split_whitespace()).env("CARGO_INCREMENTAL", "0");
    cargo
}

/// The cargo of another toolchain than the one that runs this program: "cargo +nightly …".
pub(crate) fn other_cargo(words: &str) -> Command {
    let mut cargo = command(words);
    cargo.env("CARGO_INCREMENTAL", "0").env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
    cargo
}

/// Runs a command with its output on the terminal; an exit status other than 0 is an error.
///
/// Cargo draws its bar there also if it is told to be quiet, so that a person sees that it
/// compiles. Logs have no bar, and there the error names what failed: they may be read from their
/// end only.
pub(crate) fn run(mut command: impl BorrowMut<Command>) -> Result<()> {
    let command = command.borrow_mut();
    if !io::stderr().is_terminal() {
        return run_into_log(command);
    }
    command.envs([("CARGO_TERM_PROGRESS_WHEN", "always"), ("CARGO_TERM_PROGRESS_WIDTH", "80")]);
    let shown = shown(command);
    let status = command.status().with_context(|| format!("`{shown}` cannot be started"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

fn run_into_log(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("`{shown}` cannot be started"))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(|| copied(out, io::stdout()));
    let err = copied(err, io::stderr())?;
    let printed = out.join().unwrap_or_else(|panic| resume_unwind(panic))? + &err;
    let status = child.wait()?;
    if !status.success() {
        bail!("`{shown}` ended with {status}: {}", failure(&printed));
    }
    Ok(())
}

/// Copies lines as they come, and returns all of them.
fn copied(from: Option<impl Read>, mut to: impl Write) -> io::Result<String> {
    let mut all = String::new();
    for line in from.into_iter().flat_map(|from| BufReader::new(from).split(b'\n')) {
        let line = String::from_utf8_lossy(&line?).into_owned() + "\n";
        to.write_all(line.as_bytes())?;
        all += &line;
    }
    Ok(all)
}

/// What failed, by what a command has printed: the tests, as libtest, Playwright, pytest and cargo
/// list them, or else the last error.
fn failure(printed: &str) -> String {
    let mut names = Vec::new();
    let mut is_listed = false;
    for line in printed.lines() {
        let name = line.strip_prefix("    ").filter(|_| is_listed);
        let is_head = ["failures:", "failed:", "failed"].iter().any(|end| line.ends_with(end));
        is_listed = is_head || name.is_some();
        names.extend(name.or_else(|| line.strip_prefix("FAILED ")?.split(" - ").next()));
    }
    if !names.is_empty() {
        return names.join(", ");
    }
    let is_error = |line: &&str| {
        let line = line.to_lowercase();
        let is_one = ["error:", "error[", "error]", "diff in "].iter().any(|is| line.contains(is));
        is_one && !line.contains("could not compile")
    };
    let mut lines = printed.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.clone().rfind(is_error).or_else(|| lines.next_back());
    last.unwrap_or("it printed nothing").to_owned()
}

/// Runs a command and returns what it wrote to standard output.
pub(crate) fn output(mut command: impl BorrowMut<Command>) -> Result<Vec<u8>> {
    let command = command.borrow_mut().stdin(Stdio::null()).stderr(Stdio::inherit());
    let shown = shown(command);
    let output = command.output().with_context(|| format!("`{shown}` cannot be started"))?;
    if !output.status.success() {
        bail!("`{shown}` ended with {}", output.status);
    }
    Ok(output.stdout)
}

/// What a command writes to standard output, as text without space around it.
pub(crate) fn text(command: impl BorrowMut<Command>) -> Result<String> {
    Ok(String::from_utf8(output(command)?)?.trim().to_owned())
}

/// The repository's files that fit one of git's patterns, in order. A star stands for slashes too.
pub(crate) fn files(patterns: &[&str]) -> Result<Vec<PathBuf>> {
    let mut git = command("git ls-files --cached --others --exclude-standard --deduplicate --");
    let listed = text(git.args(patterns))?;
    Ok(listed.lines().map(PathBuf::from).filter(|file| root().join(file).exists()).collect())
}

fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// The folder, empty.
pub(crate) fn fresh(folder: PathBuf) -> Result<PathBuf> {
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir_all(&folder)?,
    }
    Ok(folder)
}

/// Lines that are printed of a file's differences.
const MOST_LINES: usize = 40;

/// Whether the committed file at `path` is what is made `now`; the first lines that differ are
/// printed. With `update`, it is written.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn is_kept(path: &Path, now: &str, update: bool) -> Result<bool> {
    if update {
        write(path, now)?;
        println!("{}", path.display());
        return Ok(true);
    }
    if read(path).is_ok_and(|before| before == now) {
        return Ok(true);
    }
    let new = tempfile::NamedTempFile::new()?;
    fs::write(new.path(), now)?;
    let mut diff = command("git diff --no-index --no-color --unified=0");
    diff.arg(path).arg(new.path());
    let lines = diff.output().context("`git diff` cannot be started")?.stdout;
    let lines = String::from_utf8_lossy(&lines);
    println!("{} differs from what is made now:", path.display());
    lines.lines().take(MOST_LINES).for_each(|line| println!("{line}"));
    println!("({} lines)", lines.lines().count());
    Ok(false)
}

/// Compares committed files with what is made of them now, or with `update` writes them. All are
/// compared, whatever the first says.
///
/// # Errors
/// One differs; `verb` is the command that writes them.
pub(crate) fn all_kept(
    files: impl IntoIterator<Item = (String, String)>,
    verb: &str,
    update: bool,
) -> Result<()> {
    let compare = |(file, now): (String, String)| {
        Ok((!is_kept(&root().join(&file), &now, update)?).then_some(file))
    };
    let differing: Vec<_> = files.into_iter().map(compare).collect::<Result<_>>()?;
    let differing = differing.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if !differing.is_empty() {
        bail!(
            "{differing}: differs; if that is intended, run `cargo xtask {verb} --update` and say why in the commit"
        );
    }
    Ok(())
}

/// Whether this program runs as root.
pub(crate) fn is_root() -> Result<bool> {
    Ok(text(command("id -u"))? == "0")
}

/// The default build: the command `losscause`; returns its path. This program shares all that it
/// compiles.
pub(crate) fn losscause() -> Result<PathBuf> {
    run(cargo("build --quiet --release"))?;
    Ok(target().join("release/losscause"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_if_it_is_the_same_or_was_updated() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a/b.txt");
        assert!(!is_kept(&path, "1\n", false).unwrap() && !path.exists());
        assert!(is_kept(&path, "1\n", true).unwrap());
        assert!(is_kept(&path, "1\n", false).unwrap());
        assert!(!is_kept(&path, "1\n2\n", false).unwrap());
    }

    #[test]
    fn in_a_log_the_error_of_a_command_names_what_failed() {
        let libtest =
            "failures:\n\n---- a stdout ----\n    x\n\nfailures:\n    a::b\n    c\n\nFAILED.\n\n";
        for (printed, named) in [
            (&*format!("{libtest}error: 1 target failed:\n    `-p x`"), "a::b, c, `-p x`"),
            ("F.\nFAILED t.py::a - E: 1\nFAILED t.py::b\n2 failed in 1 s", "t.py::a, t.py::b"),
            ("  1 failed\n    [chromium] › a.ts:1:1 › b\n  3 passed", "[chromium] › a.ts:1:1 › b"),
            ("error: unused\n  --> a.rs:1\nerror: could not compile `x`", "error: unused"),
            ("Diff in a.rs:1:\n-    x", "Diff in a.rs:1:"),
            ("one\ntwo\n\n", "two"),
            ("", "it printed nothing"),
        ] {
            assert_eq!(failure(printed), named);
        }
        for (stream, last) in [("1", "one"), ("2", "two")] {
            let mut shell = command("sh -c");
            shell.args([format!("echo $0 >&{stream}; exit 3"), last.to_owned()]);
            let error = run_into_log(&mut shell).unwrap_err().to_string();
            assert!(error.ends_with(&format!("with exit status: 3: {last}")), "{error}");
        }
        assert!(run_into_log(&mut command("echo three")).is_ok());
    }

    #[test]
    fn the_target_folder_is_the_one_that_cargo_builds_in() {
        let metadata = output(cargo("metadata --format-version 1 --no-deps")).unwrap();
        let metadata: Value = serde_json::from_slice(&metadata).unwrap();
        assert_eq!(metadata["target_directory"], target().to_str().unwrap());
    }
}

//! `cargo xtask dist`: packages that install without a compiler, in `target/dist`.
//!
//! - `losscause-VERSION-PROCESSOR-linux.tar.gz`: the command with all its parts, linked statically,
//!   with manual pages, completions, licences, the list of its components and a Containerfile.
//! - `losscause_VERSION_PROCESSOR.deb`: the same for Debian and Ubuntu.
//! - `losscause-VERSION-cp310-abi3-….whl`: the Python package, the command inside.
//! - `losscause-VERSION-site.tar.gz`: the site.
//! - `SHA256SUMS`: the sums of all.
//!
//! The same commit gives the same bytes with the same compilers and libraries, in any folder.
//! Entries are sorted, belong to root and are dated by the commit, and no path of the machine is in
//! a program.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::shell::{command, output, run, target};
use crate::{python, site};

mod check;
mod components;
mod contents;
mod deb;
mod files;
mod processor;
mod program;

use files::Files;
use processor::Processor;

/// The arguments of `dist`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Make only these [default: all of them]
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// The processor of the program; for another than this machine's it is cross-compiled
    #[arg(long, value_enum, default_value_t = Processor::X86_64)]
    processor: Processor,
    /// Install each in an empty place of its own, without a compiler, and run it there
    #[arg(long)]
    check: bool,
}

impl Options {
    /// All packages, each tried.
    pub(crate) fn checked() -> Self {
        Self { only: Vec::new(), processor: Processor::X86_64, check: true }
    }
}

/// A kind of package.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The command as tar.gz
    Archive,
    /// The command for Debian and Ubuntu
    Deb,
    /// The Python package
    Wheel,
    /// The site as tar.gz
    Site,
}

/// What all packages say about themselves.
struct Release {
    version: String,
    /// When the commit was made, seconds since 1970.
    epoch_s: u64,
    /// The site's address; none before there is a public place.
    homepage: Option<String>,
}

impl Release {
    fn of_commit() -> Result<Self> {
        let epoch = output(command("git").args(["log", "-1", "--format=%ct"]))?;
        let epoch_s = String::from_utf8(epoch)?.trim().parse().context("the commit's time")?;
        let manifest: toml::Table =
            toml::from_str(&fs::read_to_string(crate::shell::root().join("Cargo.toml"))?)?;
        let text = |keys: &[&str]| {
            let first = manifest.get("workspace");
            let value = keys.iter().fold(first, |value, key| value?.get(key))?;
            value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
        };
        Ok(Self {
            version: text(&["package", "version"]).context("Cargo.toml: no version")?,
            epoch_s,
            homepage: text(&["metadata", "addresses", "homepage"]),
        })
    }
}

/// Makes the packages and, if asked to, installs and runs them.
///
/// # Errors
/// A part cannot be built, or an installed one does not work.
pub(crate) fn dist(options: &Options) -> Result<()> {
    let changes = output(command("git").args(["status", "--porcelain", "--untracked-files=no"]))?;
    if !changes.is_empty() {
        println!("the packages hold changes that are in no commit");
    }
    let release = Release::of_commit()?;
    let folder = target().join("dist");
    fs::create_dir_all(&folder)?;
    let is_asked = |part: Part| options.only.is_empty() || options.only.contains(&part);
    let mut made = Vec::new();
    if is_asked(Part::Archive) || is_asked(Part::Deb) {
        let program = program::build(options.processor, &release)?;
        let mut files = contents::of(options.processor, &release, &program)?;
        if is_asked(Part::Deb) {
            let package = deb::package(&files, options.processor, &release)?;
            let name =
                format!("losscause_{}_{}.deb", release.version, options.processor.in_debian());
            made.push((Part::Deb, write(&folder, &name, &package)?));
        }
        if is_asked(Part::Archive) {
            let container = crate::shell::root().join("packaging/Containerfile");
            files.add("Containerfile", fs::read(container)?);
            let name = format!("losscause-{}-{}-linux", release.version, options.processor);
            let archive = files.tar_gz(&format!("{name}/"), release.epoch_s)?;
            made.push((Part::Archive, write(&folder, &format!("{name}.tar.gz"), &archive)?));
        }
    }
    if is_asked(Part::Wheel) {
        made.push((Part::Wheel, wheel(&folder, options.processor, &release)?));
    }
    if is_asked(Part::Site) {
        site::site(&site::Options::default())?;
        let site = Files::below(&target().join("site"))?;
        let name = format!("losscause-{}-site", release.version);
        let archive = site.tar_gz(&format!("{name}/"), release.epoch_s)?;
        made.push((Part::Site, write(&folder, &format!("{name}.tar.gz"), &archive)?));
    }
    sums(&folder)?;
    if options.check {
        for (part, file) in &made {
            match part {
                Part::Archive => check::archive(file, options.processor)?,
                Part::Deb => check::deb(file, options.processor)?,
                Part::Wheel => check::wheel(file)?,
                // Building it has checked its links.
                Part::Site => {}
            }
        }
        if options.only.is_empty() {
            check::readme(&folder)?;
        }
    }
    Ok(())
}

fn wheel(folder: &Path, processor: Processor, release: &Release) -> Result<PathBuf> {
    if !processor.is_this_machines() {
        bail!(
            "the wheel for {processor} is built on a machine of that kind: leave it out with --only"
        );
    }
    let built = tempfile::tempdir()?;
    let variables = program::variables(false, release)?;
    python::Environment::new()?.build_wheel(built.path(), &variables)?;
    let wheel = python::only_file(built.path())?;
    let name = wheel.file_name().context("the wheel has a name")?.to_string_lossy().into_owned();
    write(folder, &name, &fs::read(&wheel)?)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    println!("{}: {:.2} MB", path.display(), bytes.len() as f64 / 1e6);
    Ok(path)
}

/// The sums of all packages in the folder, as `sha256sum --check` reads them.
fn sums(folder: &Path) -> Result<()> {
    const NAME: &str = "SHA256SUMS";
    let mut packages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && name != NAME {
            packages.push((name, path));
        }
    }
    packages.sort();
    let mut text = String::new();
    for (name, path) in packages {
        for byte in Sha256::digest(fs::read(path)?) {
            write!(text, "{byte:02x}")?;
        }
        writeln!(text, "  {name}")?;
    }
    fs::write(folder.join(NAME), text)?;
    run(command("sha256sum").args(["--check", "--quiet", NAME]).current_dir(folder))
}

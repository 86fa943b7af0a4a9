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

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::checks::OPTIONAL_PARTS_BUILD;
use crate::shell::{command, fresh, program, read, run, target, text, workspace, write};
use crate::{python, site, tools};

mod check;
mod components;
mod contents;
mod deb;
mod processor;
mod profile;
mod program;

use processor::Processor;
pub(crate) use program::without_folders;

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
    /// Make nothing, but count anew what the program does most, in packaging/
    #[arg(long, conflicts_with_all = ["only", "check"])]
    record: bool,
}

impl Options {
    /// All packages, each tried.
    pub(crate) fn checked() -> Self {
        Self { only: Vec::new(), processor: Processor::X86_64, check: true, record: false }
    }

    /// The profile that the next packages are made with.
    pub(crate) fn recording() -> Self {
        Self { record: true, ..Self::checked() }
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
        let epoch = text(command("git log -1 --format=%ct"))?;
        Ok(Self {
            version: workspace("package.version")?,
            epoch_s: epoch.parse().context("the commit's time")?,
            homepage: Some(workspace("metadata.addresses.site")?).filter(|site| !site.is_empty()),
        })
    }
}

/// Makes the packages and, if asked to, installs and runs them.
///
/// # Errors
/// A part cannot be built, or an installed one does not work.
pub(crate) fn dist(options: &Options) -> Result<()> {
    let changes = text(command("git status --porcelain --untracked-files=no"))?;
    if !changes.is_empty() {
        println!("the packages hold changes that are in no commit");
    }
    let release = Release::of_commit()?;
    if options.record {
        return profile::record(options.processor, &release);
    }
    let folder = target().join("dist");
    fs::create_dir_all(&folder)?;
    let is_asked = |part: Part| options.only.is_empty() || options.only.contains(&part);
    let mut made = Vec::new();
    if is_asked(Part::Archive) || is_asked(Part::Deb) {
        let losscause = program::build(options.processor, &release)?;
        let place = fresh(target().join("dist-files"))?;
        let files = place.join("usr");
        contents::write(&files, options.processor, &release, &losscause)?;
        if is_asked(Part::Deb) {
            let processor = options.processor.in_debian();
            let file = folder.join(format!("losscause_{}_{processor}.deb", release.version));
            deb::package(&place, &file, options.processor, &release)?;
            made.push((Part::Deb, file));
        }
        if is_asked(Part::Archive) {
            write(files.join("Containerfile"), read("packaging/Containerfile")?)?;
            let name = format!("losscause-{}-{}-linux", release.version, options.processor);
            made.push((Part::Archive, archive(&files, &name, release.epoch_s, &folder)?));
        }
    }
    if is_asked(Part::Wheel) {
        made.push((Part::Wheel, wheel(&folder, options.processor, &release)?));
    }
    if is_asked(Part::Site) {
        site::site(&site::Options::default())?;
        let name = format!("losscause-{}-site", release.version);
        made.push((Part::Site, archive(&target().join("site"), &name, release.epoch_s, &folder)?));
    }
    let bytes = |asked| made.iter().find(|(part, _)| *part == asked).map(|(_, it)| bytes_of(it));
    if let (Some(wheel), Some(archive)) = (bytes(Part::Wheel), bytes(Part::Archive)) {
        is_smaller(wheel?, archive?)?;
    }
    let folders = program::folders()?;
    for (part, file) in &made {
        // A Debian package has the files of the archive.
        if *part != Part::Deb {
            names_no_folder(file, folders.iter().map(|(folder, _)| folder.as_path()))?;
        }
        println!("{}: {:.2} MB", file.display(), bytes_of(file)? as f64 / 1e6);
    }
    // As `sha256sum --check` reads them.
    let sums = "find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\\0' | sort -z | \
                xargs -0 sha256sum > SHA256SUMS";
    run(command("sh").args(["-c", sums]).current_dir(&folder))?;
    if options.check {
        for (part, file) in &made {
            match part {
                Part::Archive => check::archive(file, options.processor)?,
                Part::Deb => check::deb(file, options.processor)?,
                Part::Wheel => check::wheel(file, options.processor)?,
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

fn bytes_of(file: &Path) -> Result<u64> {
    Ok(fs::metadata(file)?.len())
}

/// The wheel has the command as the archive has it, and the Python package.
fn is_smaller(wheel: u64, archive: u64) -> Result<()> {
    if wheel >= archive {
        bail!("the wheel has {wheel} bytes, expected fewer than the archive, which has {archive}");
    }
    Ok(())
}

/// Fails with the names of a package's files that contain one of these texts.
const NAMES_NO_FOLDER: &str = "import sys, tarfile, zipfile\n\
    package, texts = sys.argv[1], [text.encode() for text in sys.argv[2:]]\n\
    if package.endswith('.whl'):\n\
    \x20   files = [(name, zipfile.ZipFile(package).read(name)) for name in zipfile.ZipFile(package).namelist()]\n\
    else:\n\
    \x20   package = tarfile.open(package)\n\
    \x20   files = [(file.name, package.extractfile(file).read()) for file in package if file.isfile()]\n\
    sys.exit([name for name, bytes in files if any(text in bytes for text in texts)] or 0)";

/// Refuses a package in which a folder of this machine is named: another one would make others.
fn names_no_folder<'a>(package: &Path, folders: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let mut check = program(python::INTERPRETER);
    run(check.args(["-c", NAMES_NO_FOLDER]).arg(package).args(folders))
        .with_context(|| format!("{}: a file names a folder of this machine", package.display()))
}

fn wheel(folder: &Path, processor: Processor, release: &Release) -> Result<PathBuf> {
    let mut variables: Vec<_> = program::variables([], release)?.into();
    let target = processor.target();
    tools::ensure(OPTIONAL_PARTS_BUILD)?;
    let mut arguments = vec!["--features", "full"];
    if !processor.is_this_machines() {
        arguments.extend(["--target", &target]);
        variables.extend(program::cross_compile()?);
    }
    let built = tempfile::tempdir()?;
    python::Environment::new()?.build_wheel(built.path(), &arguments, variables)?;
    let wheel = python::only_file(built.path())?;
    let file = folder.join(wheel.file_name().context("the wheel has a name")?);
    fs::copy(&wheel, &file)?;
    Ok(file)
}

/// Makes `NAME.tar.gz` in `folder`, of all that `files` holds: sorted, of root, dated `epoch_s`.
fn archive(files: &Path, name: &str, epoch_s: u64, folder: &Path) -> Result<PathBuf> {
    let file = folder.join(format!("{name}.tar.gz"));
    let mut tar = command("tar --create --format=gnu --mode=u=rwX,go=rX --sort=name");
    tar.args(["--owner=0", "--group=0", "--numeric-owner", "--use-compress-program=gzip -9n"]);
    tar.args([format!("--mtime=@{epoch_s}"), format!("--transform=s,^\\.,{name},")]);
    run(tar.arg("--file").arg(&file).arg("--directory").arg(files).arg("."))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_names_a_folder_of_this_machine_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let sbom = place.path().join("sbom.json");
        write(sbom, "path+file:///of/this/machine#losscause").unwrap();
        let pack = ["-m", "zipfile", "--create", "a.whl", "sbom.json"];
        run(program(python::INTERPRETER).args(pack).current_dir(place.path())).unwrap();
        run(command("tar czf a.tar.gz sbom.json").current_dir(place.path())).unwrap();
        for package in ["a.whl", "a.tar.gz"].map(|name| place.path().join(name)) {
            let check = |text| names_no_folder(&package, [Path::new("/none"), Path::new(text)]);
            assert!(check("/of/this/machine").is_err());
            assert!(check("/of/another").is_ok());
        }
    }

    #[test]
    fn a_wheel_as_large_as_the_archive_is_refused() {
        assert!(is_smaller(8_000_000, 9_000_000).is_ok());
        assert!(is_smaller(9_000_000, 9_000_000).is_err());
    }

    #[test]
    fn an_archive_is_sorted_and_says_nothing_of_the_machine() {
        let place = tempfile::tempdir().unwrap();
        let made = |name: &str, order: [&str; 3]| {
            let files = place.path().join(name);
            order.iter().for_each(|path| write(files.join(path), path).unwrap());
            run(command("chmod 700").arg(files.join("bin/losscause"))).unwrap();
            let folder = place.path().join(format!("{name}-made"));
            fs::create_dir(&folder).unwrap();
            archive(&files, "losscause-1", 1_700_000_000, &folder).unwrap()
        };
        let one = made("one", ["share/z", "bin/losscause", "a"]);
        let two = made("two", ["a", "share/z", "bin/losscause"]);
        assert_eq!(fs::read(&one).unwrap(), fs::read(two).unwrap());
        let mut list = command("tar --list --verbose --utc --full-time --numeric-owner --file");
        let listed = text(list.arg(one)).unwrap();
        let expected = [
            "drwxr-xr-x losscause-1/",
            "-rw-r--r-- losscause-1/a",
            "drwxr-xr-x losscause-1/bin/",
            "-rwxr-xr-x losscause-1/bin/losscause",
            "drwxr-xr-x losscause-1/share/",
            "-rw-r--r-- losscause-1/share/z",
        ];
        for (line, expected) in listed.lines().zip(expected) {
            assert!(line.contains(" 0/0 ") && line.contains(" 2023-11-14 22:13:20 "), "{line}");
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(format!("{} {}", words[0], words[words.len() - 1]), expected);
        }
        assert_eq!(listed.lines().count(), expected.len());
    }
}

//! `cargo xtask release`: one version in every place that names it, the addresses in every manifest,
//! a commit, a tag, the packages. Without `--write` it only says what it would change. It uploads
//! nothing: the commands that do are printed in their order.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use crate::dist;
use crate::shell::{cargo, command, read, run, text, workspace, write};

/// The arguments of `release`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The new version, such as 0.2.0; the version in Cargo.toml itself if it was never tagged
    version: String,
    /// Change the files, commit, tag and make the packages, instead of saying what would change
    #[arg(long)]
    write: bool,
}

/// Where the project is to be found: the keys of `[workspace.metadata.addresses]` in Cargo.toml.
const ADDRESSES: [&str; 3] = ["source", "site", "security"];

/// An address for each of [`ADDRESSES`]; empty if it is not set.
fn addresses() -> Result<[String; 3]> {
    let address = |key| workspace(&format!("metadata.addresses.{key}"));
    let [source, site, security] = ADDRESSES.map(address);
    Ok([source?, site?, security?])
}

/// What a release sets.
struct Release {
    old: String,
    new: String,
    /// YEAR-MONTH-DAY.
    date: String,
    addresses: [String; 3],
}

/// Says what a release changes; with `--write`, makes it.
///
/// # Errors
/// With `--write`: an address is missing, a file has changes, or a step fails.
pub(crate) fn release(options: &Options) -> Result<()> {
    let release = Release {
        old: workspace("package.version")?,
        new: options.version.clone(),
        date: text(command("date --utc +%F"))?,
        addresses: addresses()?,
    };
    let tags = text(command(&format!("git tag --list v{}", release.old)))?;
    may_follow(&release.new, &release.old, !tags.is_empty())?;
    let changes = text(command("git status --porcelain --untracked-files=no"))?;
    let changes =
        (!changes.is_empty()).then(|| "the checkout has changes that are in no commit".to_owned());
    for hindrance in missing(&release.addresses).into_iter().chain(changes) {
        if options.write {
            bail!("{hindrance}");
        }
        println!("before it: {hindrance}");
    }
    for (path, text) in changed(&release)? {
        let before = read(&path)?;
        let lines = text.lines().filter(|line| !before.lines().any(|old| old == *line));
        lines.for_each(|line| println!("{path}: {line}"));
        if options.write {
            write(path, text)?;
        }
    }
    let tag = format!("v{}", release.new);
    if options.write {
        run(cargo("update --quiet --workspace"))?;
        // Names of functions depend on the version.
        dist::dist(&dist::Options::recording())?;
        let message = format!("release {}", release.new);
        run(command("git commit --quiet --all --message").arg(message))?;
        run(command(&format!("git tag --annotate --message {tag} {tag}")))?;
        dist::dist(&dist::Options::checked())?;
    }
    println!(
        "then: git push origin HEAD {tag}\n\
         then: cargo publish --workspace --locked\n\
         then: upload target/dist/*.whl to PyPI, and all of target/dist beside the tag {tag}"
    );
    Ok(())
}

/// The first address that is not set.
fn missing(addresses: &[String; 3]) -> Option<String> {
    let (key, _) = ADDRESSES.iter().zip(addresses).find(|(_, address)| address.is_empty())?;
    Some(format!("Cargo.toml: workspace.metadata.addresses.{key} is empty, expected an address"))
}

/// The files that name a version, a date or an address.
const FILES: &str =
    "*Cargo.toml CHANGELOG.md CITATION.cff README.md SECURITY.md python/pyproject.toml";

/// These files, with their new text.
fn changed(release: &Release) -> Result<BTreeMap<String, String>> {
    let files = text(command(&format!("git ls-files {FILES}")))?;
    let change = |path: &str| Ok((path.to_owned(), edited(path, &read(path)?, release)?));
    files.lines().map(change).collect()
}

/// The new text of a file.
fn edited(path: &str, text: &str, release: &Release) -> Result<String> {
    let Release { old, new, date, addresses: [source, site, security] } = release;
    let urls = [format!("homepage = \"{site}\""), format!("repository = \"{source}\"")];
    let inherited = ["homepage.workspace = true", "repository.workspace = true"];
    let cited = [
        format!("version: {new}"),
        format!("date-released: {date}"),
        format!("repository-code: \"{source}\""),
        format!("url: \"{site}\""),
    ];
    let of_python = format!("urls = {{ Homepage = \"{site}\", Repository = \"{source}\" }}");
    Ok(match path {
        "Cargo.toml" => put(&with_version(text, release), "authors", &urls),
        "CHANGELOG.md" => with_section(text, release)?,
        "CITATION.cff" => put(text, "type", &cited),
        // The names of packages.
        "README.md" => ["losscause-", "losscause_"].iter().fold(text.to_owned(), |text, name| {
            text.replace(&format!("{name}{old}"), &format!("{name}{new}"))
        }),
        "SECURITY.md" => put(text, "Address", &[format!("Address: {security}")]),
        "python/pyproject.toml" => put(text, "dynamic", &[of_python]),
        _ => put(text, "authors.workspace", &inherited),
    })
}

/// What stands before a colon or an equals sign.
fn key(line: &str) -> &str {
    line.split([':', '=']).next().unwrap_or_default().trim_end()
}

/// `text` with the lines `new`: in place of the first ones that have their keys, or behind the first
/// one that has the key `behind`.
fn put(text: &str, behind: &str, new: &[impl AsRef<str>]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for new in new.iter().rev().map(AsRef::as_ref) {
        let place = |wanted| lines.iter().position(|line| key(line) == wanted);
        match (place(key(new)), place(behind)) {
            (Some(at), _) => lines[at] = new,
            (None, Some(at)) => lines.insert(at + 1, new),
            (None, None) => {}
        }
    }
    lines.join("\n") + "\n"
}

/// Refuses a version that is not after `old`. A version that was never released may be.
fn may_follow(new: &str, old: &str, is_released: bool) -> Result<()> {
    match numbers(new)?.cmp(&numbers(old)?) {
        Ordering::Greater => Ok(()),
        Ordering::Equal if !is_released => Ok(()),
        Ordering::Equal => bail!("{new}: has the tag v{old}, expected a version after it"),
        Ordering::Less => bail!("{new}: expected a version after {old}"),
    }
}

/// The changelog with all that is not released in the section of the new version. If that has a
/// section already, because it was never released, both become one.
fn with_section(changelog: &str, Release { new, date, .. }: &Release) -> Result<String> {
    const OPEN: &str = "## [Unreleased]\n";
    if !changelog.contains(OPEN) {
        bail!("CHANGELOG.md has no section [Unreleased]");
    }
    let head = format!("## [{new}] - ");
    let lines = changelog.lines().filter(|line| !line.starts_with(&head));
    let one = lines.map(|line| format!("{line}\n")).collect::<String>().replace("\n\n\n", "\n\n");
    Ok(one.replacen(OPEN, &format!("{OPEN}\n{head}{date}\n"), 1))
}

fn numbers(version: &str) -> Result<[u64; 3]> {
    let numbers: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers.with_context(|| format!("\"{version}\": expected three numbers, such as 0.2.0"))
}

/// The workspace's manifest with the new version, also of its crates.
fn with_version(workspace: &str, Release { old, new, .. }: &Release) -> String {
    let version = |version| format!("version = \"{version}\"");
    let has_it = |line: &str| line.starts_with("version") || line.contains("path = \"crates/");
    let renewed = |line: &str| match has_it(line) {
        true => line.replace(&version(old), &version(new)) + "\n",
        false => format!("{line}\n"),
    };
    workspace.lines().map(renewed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The release of a version after 0.1.0.
    fn release(new: &str) -> Release {
        let [old, new, date] = ["0.1.0", new, "2030-01-02"].map(str::to_owned);
        Release { old, new, date, addresses: ["R", "H", "S"].map(str::to_owned) }
    }

    #[test]
    fn every_text_that_a_release_changes_is_the_same_after_a_second_time() {
        let release = release("0.2.0");
        let mut once = changed(&release).unwrap();
        let changelog = once.remove("CHANGELOG.md").unwrap();
        assert!(changelog.contains("## [Unreleased]\n\n## [0.2.0] - 2030-01-02\n\n"));
        for (path, text) in &once {
            assert_eq!(edited(path, text, &release).unwrap(), *text, "{path}");
        }
        let manifest: toml::Table = toml::from_str(&once["Cargo.toml"]).unwrap();
        let workspace = &manifest["workspace"];
        assert_eq!(workspace["package"]["version"].as_str(), Some("0.2.0"));
        assert_eq!(workspace["package"]["repository"].as_str(), Some("R"));
        let crates = workspace["dependencies"].as_table().unwrap().iter();
        let ours: Vec<_> = crates.filter(|(_, one)| one.get("path").is_some()).collect();
        assert_eq!(ours.len(), 14);
        assert!(ours.iter().all(|(_, one)| one["version"].as_str() == Some("0.2.0")));
        // The addresses' own table stays as it was.
        let source = workspace["metadata"]["addresses"]["source"].as_str();
        assert_eq!(source, Some(super::addresses().unwrap()[0].as_str()));
        let project: toml::Table = toml::from_str(&once["python/pyproject.toml"]).unwrap();
        assert_eq!(project["project"]["urls"]["Homepage"].as_str(), Some("H"));
        for line in ["version: 0.2.0", "date-released: 2030-01-02", "url: \"H\""] {
            assert!(once["CITATION.cff"].contains(&format!("\n{line}\n")), "{line}");
        }
        assert!(once["SECURITY.md"].contains("\nAddress: S\n"));
        assert!(once["README.md"].contains("losscause-0.2.0-x86_64-linux.tar.gz"));
        let member = &once["crates/losscause/Cargo.toml"];
        assert_eq!(member.matches("\nrepository.workspace = true\n").count(), 1);
    }

    #[test]
    fn the_first_release_is_that_of_the_version_in_the_manifest() {
        assert!(may_follow("0.1.0", "0.1.0", false).is_ok());
        assert!(may_follow("0.2.0", "0.1.0", true).is_ok());
        let refused = |new, is_released| may_follow(new, "0.1.0", is_released).unwrap_err();
        let tagged = "0.1.0: has the tag v0.1.0, expected a version after it";
        assert_eq!(refused("0.1.0", true).to_string(), tagged);
        let before = "0.0.9: expected a version after 0.1.0";
        assert_eq!(refused("0.0.9", false).to_string(), before);
    }

    #[test]
    fn what_was_noted_since_a_version_that_was_never_released_is_in_its_section() {
        let changelog = "# C\n\n## [Unreleased]\n\n- b\n\n## [0.1.0] - 2026-11-29\n\nThe first.\n";
        let once = with_section(changelog, &release("0.1.0")).unwrap();
        let expected = "# C\n\n## [Unreleased]\n\n## [0.1.0] - 2030-01-02\n\n- b\n\nThe first.\n";
        assert_eq!(once, expected);
        assert_eq!(with_section(&once, &release("0.1.0")).unwrap(), expected);
        let two = "# C\n\n## [Unreleased]\n\n## [0.2.0] - 2030-01-02\n\n- b\n\n## [0.1.0] - 2026-11-29\n\nThe first.\n";
        assert_eq!(with_section(changelog, &release("0.2.0")).unwrap(), two);
    }

    #[test]
    fn the_changelog_has_an_open_section_above_that_of_the_version() {
        let changelog = read("CHANGELOG.md").unwrap();
        let version = workspace("package.version").unwrap();
        let open = changelog.find("\n## [Unreleased]\n").expect("an open section");
        let of_version = changelog.find(&format!("\n## [{version}] - ")).expect("the version");
        assert!(open < of_version);
    }

    #[test]
    fn a_version_has_three_numbers_and_an_address_is_needed() {
        assert!(numbers("0.10.0").unwrap() > numbers("0.9.1").unwrap());
        assert!(numbers("0.2").is_err() && numbers("0.2.x").is_err());
        let mut addresses = release("0.2.0").addresses;
        assert_eq!(missing(&addresses), None);
        addresses[2].clear();
        assert!(missing(&addresses).unwrap().contains("addresses.security is empty"));
    }
}

//! `cargo xtask release`: one version in every place that names it, the addresses in every manifest,
//! a commit, a tag, the packages. Without `--write` it only says what it would change. It uploads
//! nothing: the commands that do are printed in their order.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::dist;
use crate::shell::{cargo, command, output, root, run};

/// The arguments of `release`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The new version, such as 0.2.0
    version: String,
    /// Change the files, commit, tag and make the packages, instead of saying what would change
    #[arg(long)]
    write: bool,
}

/// Where the project is to be found: `[workspace.metadata.addresses]` of Cargo.toml.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Addresses {
    repository: String,
    homepage: String,
    security: String,
}

impl Addresses {
    fn read(workspace: &str) -> Result<Self> {
        let manifest: toml::Table = toml::from_str(workspace)?;
        let addresses = manifest["workspace"].get("metadata").and_then(|all| all.get("addresses"));
        let addresses = addresses.context("Cargo.toml: workspace.metadata.addresses is missing")?;
        addresses.clone().try_into().context("Cargo.toml: workspace.metadata.addresses")
    }

    /// The first that is not set.
    fn missing(&self) -> Option<&'static str> {
        let all = [
            ("repository", &self.repository),
            ("homepage", &self.homepage),
            ("security", &self.security),
        ];
        all.into_iter().find(|(_, address)| address.is_empty()).map(|(key, _)| key)
    }
}

/// What a release sets.
struct Release<'a> {
    old: &'a str,
    new: &'a str,
    /// YEAR-MONTH-DAY.
    date: &'a str,
    addresses: &'a Addresses,
}

/// Says what a release changes; with `--write`, makes it.
///
/// # Errors
/// With `--write`: an address is missing, a file has changes, or a step fails.
pub(crate) fn release(options: &Options) -> Result<()> {
    let workspace = read("Cargo.toml")?;
    let old = old_version(&workspace)?;
    if numbers(&options.version)? <= numbers(&old)? {
        bail!("{}: expected a version after {old}", options.version);
    }
    let addresses = Addresses::read(&workspace)?;
    let date = String::from_utf8(output(command("date").args(["--utc", "+%F"]))?)?;
    let release =
        Release { old: &old, new: &options.version, date: date.trim(), addresses: &addresses };
    let changes = output(command("git").args(["status", "--porcelain", "--untracked-files=no"]))?;
    let hindrances = [
        addresses.missing().map(|key| {
            format!("Cargo.toml: workspace.metadata.addresses.{key} is empty, expected an address")
        }),
        (!changes.is_empty()).then(|| "the checkout has changes that are in no commit".to_owned()),
    ];
    for hindrance in hindrances.into_iter().flatten() {
        if options.write {
            bail!("{hindrance}");
        }
        println!("before it: {hindrance}");
    }
    for (path, text) in changed(&release)? {
        let before = read(&path)?;
        let lines = text.lines().filter(|line| !before.lines().any(|old| old == *line));
        for line in lines {
            println!("{path}: {line}");
        }
        if options.write {
            fs::write(root().join(&path), text).context(path)?;
        }
    }
    let tag = format!("v{}", release.new);
    if options.write {
        run(cargo().args(["update", "--quiet", "--workspace"]))?;
        run(command("git")
            .args(["commit", "--quiet", "--all", "--message"])
            .arg(format!("release {}", release.new)))?;
        run(command("git").args(["tag", "--annotate", "--message", &tag, &tag]))?;
        dist::dist(&dist::Options::checked())?;
    }
    println!(
        "then: git push origin HEAD {tag}\n\
         then: cargo publish --workspace --locked\n\
         then: upload target/dist/*.whl to PyPI, and all of target/dist beside the tag {tag}"
    );
    Ok(())
}

/// The files that name a version, a date or an address, with their new text.
fn changed(release: &Release) -> Result<Vec<(String, String)>> {
    let mut all = vec![
        ("Cargo.toml".to_owned(), with_version(&read("Cargo.toml")?, release)),
        ("CHANGELOG.md".to_owned(), dated(&read("CHANGELOG.md")?, release)?),
        ("CITATION.cff".to_owned(), cited(&read("CITATION.cff")?, release)),
        ("SECURITY.md".to_owned(), reported(&read("SECURITY.md")?, release)?),
        ("README.md".to_owned(), with_packages(&read("README.md")?, release)),
        ("python/pyproject.toml".to_owned(), with_urls(&read("python/pyproject.toml")?, release)),
    ];
    let manifests = output(command("git").args(["ls-files", "*Cargo.toml"]))?;
    for path in String::from_utf8(manifests)?.lines() {
        let text = read(path)?;
        if text.contains(INHERITED) {
            all.push((path.to_owned(), with_addresses(&text)));
        }
    }
    Ok(all)
}

fn read(path: &str) -> Result<String> {
    let file: PathBuf = root().join(path);
    fs::read_to_string(&file).with_context(|| file.display().to_string())
}

fn old_version(workspace: &str) -> Result<String> {
    let manifest: toml::Table = toml::from_str(workspace)?;
    let version = manifest["workspace"].get("package").and_then(|package| package.get("version"));
    let version = version.and_then(toml::Value::as_str);
    Ok(version.context("Cargo.toml: workspace.package.version is missing")?.to_owned())
}

fn numbers(version: &str) -> Result<Vec<u64>> {
    let numbers: Result<Vec<u64>, _> = version.split('.').map(str::parse).collect();
    numbers
        .ok()
        .filter(|numbers| numbers.len() == 3)
        .with_context(|| format!("\"{version}\": expected three numbers, such as 0.2.0"))
}

/// The line of a member's manifest behind which the addresses stand.
const INHERITED: &str = "authors.workspace = true\n";
const ADDRESSES: &str = "homepage.workspace = true\nrepository.workspace = true\n";

fn with_addresses(manifest: &str) -> String {
    manifest.replace(ADDRESSES, "").replace(INHERITED, &format!("{INHERITED}{ADDRESSES}"))
}

/// The workspace's manifest: its version, that of its crates, and the addresses that members
/// inherit.
fn with_version(workspace: &str, release: &Release) -> String {
    let version = format!("version = \"{}\"", release.old);
    let mut text = String::new();
    for line in workspace.lines() {
        if ["homepage = \"", "repository = \""].iter().any(|key| line.starts_with(key))
            && !text.contains("[workspace.metadata.addresses]")
        {
            continue;
        }
        let names_ours = line.starts_with(&version) || line.contains("path = \"crates/");
        if names_ours {
            text += &line.replace(&version, &format!("version = \"{}\"", release.new));
        } else {
            text += line;
        }
        text.push('\n');
        if line.starts_with("authors = ") {
            let Addresses { homepage, repository, .. } = release.addresses;
            text += &format!("homepage = \"{homepage}\"\nrepository = \"{repository}\"\n");
        }
    }
    text
}

fn dated(changelog: &str, Release { new, date, .. }: &Release) -> Result<String> {
    const OPEN: &str = "## [Unreleased]\n";
    if !changelog.contains(OPEN) {
        bail!("CHANGELOG.md has no section [Unreleased]");
    }
    Ok(changelog.replacen(OPEN, &format!("{OPEN}\n## [{new}] - {date}\n"), 1))
}

fn cited(citation: &str, release: &Release) -> String {
    let ours = ["version:", "date-released:", "repository-code:", "url:"];
    let kept = citation.lines().filter(|line| !ours.iter().any(|key| line.starts_with(key)));
    let mut text: String = kept.flat_map(|line| [line, "\n"]).collect();
    let Addresses { homepage, repository, .. } = release.addresses;
    text += &format!("version: {}\ndate-released: {}\n", release.new, release.date);
    text + &format!("repository-code: \"{repository}\"\nurl: \"{homepage}\"\n")
}

fn reported(security: &str, release: &Release) -> Result<String> {
    let Some(line) = security.lines().find(|line| line.starts_with("Address: ")) else {
        bail!("SECURITY.md has no line `Address: …`");
    };
    Ok(security.replacen(line, &format!("Address: {}", release.addresses.security), 1))
}

/// The names of packages have the version behind "losscause-" or "losscause_".
fn with_packages(readme: &str, Release { old, new, .. }: &Release) -> String {
    ["losscause-", "losscause_"].iter().fold(readme.to_owned(), |text, start| {
        text.replace(&format!("{start}{old}"), &format!("{start}{new}"))
    })
}

fn with_urls(project: &str, release: &Release) -> String {
    const TABLE: &str = "[project.urls]\n";
    const NEXT: &str = "[project.scripts]\n";
    let start = project.find(TABLE).unwrap_or(project.len());
    let end = project[start..].find(NEXT).map_or(start, |length| start + length);
    let without = format!("{}{}", &project[..start], &project[end..]);
    let Addresses { homepage, repository, .. } = release.addresses;
    let urls = format!("{TABLE}Homepage = \"{homepage}\"\nRepository = \"{repository}\"\n\n");
    without.replace(NEXT, &format!("{urls}{NEXT}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> Addresses {
        let text = |word: &str| word.to_owned();
        Addresses { repository: text("R"), homepage: text("H"), security: text("S") }
    }

    fn release(addresses: &Addresses) -> Release<'_> {
        Release { old: "0.1.0", new: "0.2.0", date: "2030-01-02", addresses }
    }

    #[test]
    fn a_released_workspace_is_read_and_has_the_addresses_once_however_often_it_is_released() {
        let addresses = addresses();
        let text = read("Cargo.toml").unwrap();
        let once = with_version(&text, &release(&addresses));
        let twice = with_version(&once, &release(&addresses));
        assert_eq!(once, twice);
        let manifest: toml::Table = toml::from_str(&once).unwrap();
        let workspace = &manifest["workspace"];
        assert_eq!(workspace["package"]["version"].as_str(), Some("0.2.0"));
        assert_eq!(workspace["package"]["repository"].as_str(), Some("R"));
        let crates = workspace["dependencies"].as_table().unwrap().iter();
        let ours: Vec<_> = crates.filter(|(_, one)| one.get("path").is_some()).collect();
        assert_eq!(ours.len(), 14);
        assert!(ours.iter().all(|(_, one)| one["version"].as_str() == Some("0.2.0")));
        // The addresses' own table stays as it was.
        assert_eq!(
            Addresses::read(&once).unwrap().repository,
            Addresses::read(&text).unwrap().repository
        );
    }

    #[test]
    fn every_text_that_a_release_changes_is_the_same_after_a_second_time() {
        let addresses = addresses();
        let release = release(&addresses);
        let project = read("python/pyproject.toml").unwrap();
        let urls = with_urls(&project, &release);
        assert_eq!(urls, with_urls(&urls, &release));
        let manifest: toml::Table = toml::from_str(&urls).unwrap();
        assert_eq!(manifest["project"]["urls"]["Homepage"].as_str(), Some("H"));
        let citation = cited(&read("CITATION.cff").unwrap(), &release);
        assert_eq!(citation, cited(&citation, &release));
        assert!(citation.contains("\nversion: 0.2.0\ndate-released: 2030-01-02\n"));
        let security = reported(&read("SECURITY.md").unwrap(), &release).unwrap();
        assert!(security.contains("\nAddress: S\n"));
        let readme = with_packages("losscause-0.1.0-x losscause_0.1.0_y 0.1.0", &release);
        assert_eq!(readme, "losscause-0.2.0-x losscause_0.2.0_y 0.1.0");
        let member = with_addresses("a\nauthors.workspace = true\nb\n");
        assert_eq!(member, with_addresses(&member));
        assert_eq!(member.matches("repository.workspace = true\n").count(), 1);
    }

    #[test]
    fn the_changelogs_open_section_becomes_the_releases() {
        let addresses = addresses();
        let before = "# Changelog\n\n## [Unreleased]\n\n- a\n";
        let after = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2030-01-02\n\n- a\n";
        assert_eq!(dated(before, &release(&addresses)).unwrap(), after);
        assert!(dated("# Changelog\n", &release(&addresses)).is_err());
    }

    #[test]
    fn the_changelog_has_an_open_section_above_that_of_the_version() {
        let changelog = read("CHANGELOG.md").unwrap();
        let version = old_version(&read("Cargo.toml").unwrap()).unwrap();
        let open = changelog.find("\n## [Unreleased]\n").expect("an open section");
        let of_version = changelog.find(&format!("\n## [{version}] - ")).expect("the version");
        assert!(open < of_version);
    }

    #[test]
    fn a_version_has_three_numbers_and_an_address_is_needed() {
        assert!(numbers("0.10.0").unwrap() > numbers("0.9.1").unwrap());
        assert!(numbers("0.2").is_err() && numbers("0.2.x").is_err());
        let mut addresses = addresses();
        assert_eq!(addresses.missing(), None);
        addresses.security.clear();
        assert_eq!(addresses.missing(), Some("security"));
    }
}

//! What is compiled into the command: crates, and libraries in C. A package says which, and has
//! their licences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Release;
use super::processor::Processor;
use crate::shell::{cargo, command, packages, read, text};

/// The components of the command.
pub(super) struct Components {
    crates: Vec<Crate>,
    /// Packages of Debian whose library is linked statically, each with its version.
    libraries: Vec<(&'static str, String)>,
}

#[derive(Deserialize)]
struct Crate {
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
    /// None: of this repository.
    source: Option<String>,
}

/// The packages of the libraries in C.
const LIBRARIES: [&str; 3] = ["libc6-dev", "libelf-dev", "zlib1g-dev"];

impl Components {
    /// Those of the command with all features.
    pub(super) fn of_the_command(processor: Processor) -> Result<Self> {
        let mut tree = cargo("tree --locked --quiet --package losscause-cli --features full");
        tree.args(["--edges", "normal", "--prefix", "none", "--format", "{p}", "--target"]);
        // "NAME vVERSION (PATH) (*)", the brackets for some.
        let tree = text(tree.arg(processor.target()))?;
        let is_linked: BTreeSet<(&str, &str)> = tree
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                Some((words.next()?, words.next()?.strip_prefix('v')?))
            })
            .collect();
        let mut crates: Vec<Crate> = packages("--locked")?;
        crates.retain(|one| is_linked.contains(&(one.name.as_str(), one.version.as_str())));
        crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        let library = |package| {
            let show = format!("dpkg-query --show --showformat ${{Version}} {package}");
            Ok((package, text(command(&show))?))
        };
        let libraries = LIBRARIES.into_iter().map(library).collect::<Result<_>>()?;
        Ok(Self { crates, libraries })
    }

    /// The list in the form of CycloneDX 1.5.
    pub(super) fn bill_of_materials(&self, release: &Release) -> Result<String> {
        let checksums = checksums(&read("Cargo.lock")?)?;
        let library = |kind, name: &str, version: &str| {
            let purl = format!("pkg:{kind}/{name}@{version}");
            json!({ "type": "library", "name": name, "version": version, "purl": purl })
        };
        let of_crate = |one: &Crate| {
            let Crate { name, version, license, .. } = one;
            let mut component = library("cargo", name, version);
            if let Some(license) = license {
                // The old way to write "or".
                component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
            }
            if let Some(sum) = checksums.get(&(name.clone(), version.clone())) {
                component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
            }
            component
        };
        let of_library =
            |(package, version): &(&str, String)| library("deb/debian", package, version);
        let components: Vec<Value> =
            self.crates.iter().map(of_crate).chain(self.libraries.iter().map(of_library)).collect();
        let bill = json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": { "component": {
                "type": "application", "name": "losscause", "version": release.version,
            } },
            "components": components,
        });
        Ok(serde_json::to_string_pretty(&bill)? + "\n")
    }

    /// Every component's name and licence, then the texts; equal texts stand there once.
    pub(super) fn licences(&self) -> Result<String> {
        let mut names = String::from("The command holds these components:\n\n");
        let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for one in self.crates.iter().filter(|one| one.source.is_some()) {
            let name = format!("{} {}", one.name, one.version);
            names += &format!("{name}: {}\n", one.license.as_deref().unwrap_or("see below"));
            for text in texts_of(one.manifest_path.parent().context("a crate's folder")?)? {
                texts.entry(text).or_default().insert(name.clone());
            }
        }
        for (package, version) in &self.libraries {
            let name = format!("{package} {version}");
            names += &format!("{name}: see below\n");
            let file = Path::new("/usr/share/doc").join(package).join("copyright");
            texts.entry(read(&file)?).or_default().insert(name);
        }
        for (text, of) in texts {
            let of = of.into_iter().collect::<Vec<_>>().join(", ");
            names += &format!("\n{}\n{of}:\n\n{}\n", "=".repeat(80), text.trim_end());
        }
        Ok(names)
    }
}

/// The texts of licences in a crate's folder.
fn texts_of(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_ascii_uppercase();
        let is_licence =
            ["LICEN", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|start| name.starts_with(start));
        if is_licence && entry.path().is_file() {
            let text = fs::read(entry.path())?;
            texts.push(String::from_utf8_lossy(&text).replace('\r', ""));
        }
    }
    Ok(texts)
}

/// The sums of the crates' packages by name and version, from the text of Cargo.lock.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>> {
    let lock: toml::Table = toml::from_str(lock).context("Cargo.lock")?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let text = |one: &toml::Value, key: &str| one.get(key)?.as_str().map(str::to_owned);
    let sum = |one| Some(((text(one, "name")?, text(one, "version")?), text(one, "checksum")?));
    Ok(packages.context("Cargo.lock names no package")?.iter().filter_map(sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_of_the_repository_has_no_sum() {
        let lock = "[[package]]\nname = 'a'\nversion = '1.0.0'\nchecksum = 'f0'\n[[package]]\nname = 'b'\nversion = '2.0.0'\n";
        let sums: Vec<_> = checksums(lock).unwrap().into_iter().collect();
        assert_eq!(sums, [(("a".to_owned(), "1.0.0".to_owned()), "f0".to_owned())]);
    }

    #[test]
    fn the_bill_names_crates_and_libraries() {
        let components = Components {
            crates: vec![Crate {
                name: "libc".into(),
                version: "0.0.0".into(),
                license: Some("MIT/Apache-2.0".into()),
                manifest_path: PathBuf::new(),
                source: None,
            }],
            libraries: vec![("libelf-dev", "0.188".into())],
        };
        let release = Release { version: "9.9.9".into(), epoch_s: 0, homepage: None };
        let bill: Value =
            serde_json::from_str(&components.bill_of_materials(&release).unwrap()).unwrap();
        assert_eq!(bill["metadata"]["component"]["version"], "9.9.9");
        assert_eq!(bill["components"][0]["purl"], "pkg:cargo/libc@0.0.0");
        assert_eq!(bill["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bill["components"][1]["purl"], "pkg:deb/debian/libelf-dev@0.188");
    }
}

//! Which crates of the workspace are published, in the order in which they can be.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::shell::{cargo, output};

/// A published crate.
#[derive(Debug)]
pub(super) struct Crate {
    pub(super) name: String,
    pub(super) version: String,
    /// Whether it has optional features.
    pub(super) has_features: bool,
    /// Whether its documentation takes all of them.
    pub(super) is_documented_whole: bool,
}

impl Crate {
    /// The name of its `.crate` file without the ending, and of the folder in that file.
    pub(super) fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }
}

/// What `cargo metadata` says.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    /// None: to any registry. An empty list: not published.
    publish: Option<Vec<String>>,
    features: toml::Table,
    dependencies: Vec<Dependency>,
    metadata: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
}

/// The workspace's published crates; each stands behind those that it depends on.
pub(super) fn published() -> Result<Vec<Crate>> {
    in_order(packages()?)
}

/// Every feature of every package, `PACKAGE/FEATURE`.
pub(super) fn features() -> Result<Vec<String>> {
    let of = |package: Package| {
        let name = package.name;
        package.features.into_iter().map(move |(feature, _)| format!("{name}/{feature}"))
    };
    Ok(packages()?.into_iter().flat_map(of).collect())
}

fn packages() -> Result<Vec<Package>> {
    let metadata = output(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Metadata =
        serde_json::from_slice(&metadata).context("what `cargo metadata` printed")?;
    Ok(metadata.packages)
}

fn in_order(packages: Vec<Package>) -> Result<Vec<Crate>> {
    let mut waiting: Vec<Package> = packages
        .into_iter()
        .filter(|package| package.publish.as_ref().is_none_or(|to| !to.is_empty()))
        .collect();
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let needs_another = |package: &Package| {
            package
                .dependencies
                .iter()
                .any(|dependency| waiting.iter().any(|other| other.name == dependency.name))
        };
        let Some(next) = waiting.iter().position(|package| !needs_another(package)) else {
            let names: Vec<&str> = waiting.iter().map(|package| package.name.as_str()).collect();
            bail!("{} depend on each other, so that none can be published first", names.join(", "));
        };
        let Package { name, version, features, metadata, .. } = waiting.remove(next);
        let all_features =
            metadata.as_ref().and_then(|metadata| metadata.pointer("/docs/rs/all-features"));
        let is_documented_whole =
            all_features.and_then(serde_json::Value::as_bool).unwrap_or(false);
        ordered.push(Crate {
            name,
            version,
            has_features: !features.is_empty(),
            is_documented_whole,
        });
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_published_from_the_core_to_the_command() {
        let names: Vec<String> =
            published().unwrap().into_iter().map(|package| package.name).collect();
        let expected = [
            "",
            "-capture",
            "-transport",
            "-sim",
            "-study",
            "-laboratory",
            "-media",
            "-quic",
            "-report",
            "-linux-needs",
            "-linux",
            "-experiments",
            "-cli",
            "-rtc",
        ]
        .map(|end| format!("losscause{end}"));
        assert_eq!(names, expected);
    }

    #[test]
    fn crates_that_depend_on_each_other_have_no_order() {
        let package = |name: &str, needs: &str| Package {
            name: name.into(),
            version: "1.0.0".into(),
            publish: None,
            features: toml::Table::new(),
            metadata: None,
            dependencies: vec![Dependency { name: needs.into() }],
        };
        let error = in_order(vec![package("a", "b"), package("b", "a")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a, b depend on each other, so that none can be published first"
        );
        let order = in_order(vec![package("a", "b"), package("b", "elsewhere")]).unwrap();
        assert_eq!(order.iter().map(Crate::folder).collect::<Vec<_>>(), ["b-1.0.0", "a-1.0.0"]);
    }
}

//! The workflows of the hosted CI are YAML with the shape that it reads, and call what exists.

use clap::CommandFactory;

use super::workspace::texts;
use crate::shell::{command, run};
use yaml_rust2::yaml::Hash;
use yaml_rust2::{Yaml, YamlLoader};

/// The jobs of the workflows, each with its place. A workflow has a name and says when it runs and
/// what it may do to the repository, which is no more than reading.
fn jobs() -> Vec<(String, Yaml)> {
    let may = Hash::from_iter([(Yaml::from_str("contents"), Yaml::from_str("read"))]);
    let mut jobs = Vec::new();
    for (file, text) in texts(&[".github/workflows/*"]) {
        let documents = YamlLoader::load_from_str(&text);
        let documents = documents.unwrap_or_else(|error| panic!("{file}: {error}"));
        let [workflow] = &documents[..] else { panic!("{file}: is several documents") };
        assert!(workflow["name"].as_str().is_some(), "{file}: name");
        assert!(workflow["on"].as_hash().is_some(), "{file}: on");
        assert_eq!(workflow["permissions"].as_hash(), Some(&may), "{file}");
        let own = workflow["jobs"].as_hash().unwrap().iter();
        jobs.extend(own.map(|(job, what)| (format!("{file}: {job:?}"), what.clone())));
    }
    assert!(jobs.len() >= 2);
    jobs
}

#[test]
fn every_job_says_where_it_runs_how_long_at_most_and_what() {
    for (place, job) in jobs() {
        assert!(job["runs-on"].as_str().is_some(), "{place}: runs-on");
        assert!(job["timeout-minutes"].as_i64().is_some(), "{place}: timeout-minutes");
        let steps = job["steps"].as_vec().unwrap();
        assert!(!steps.is_empty(), "{place}: steps");
        for step in steps {
            let kinds = ["run", "uses"].iter().filter(|key| step[**key].as_str().is_some());
            assert_eq!(kinds.count(), 1, "{place}: {step:?}");
        }
    }
}

#[test]
fn the_workflows_call_scripts_and_verbs_that_exist() {
    let steps = jobs().into_iter().flat_map(|(_, job)| job["steps"].clone());
    let commands: Vec<String> =
        steps.filter_map(|step| step["run"].clone().into_string()).collect();
    let after = |start: &str| -> Vec<String> {
        let found = commands.iter().filter_map(|command| Some(command.split_once(start)?.1));
        found.map(|rest| rest.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let mut scripts = after("bash .ci/");
    scripts.sort();
    assert_eq!(scripts, ["portable", "run"]);
    for script in scripts {
        run(command("bash -n").arg(format!(".ci/{script}"))).unwrap();
    }
    let verbs = after("cargo xtask ");
    assert!(verbs.contains(&"dist".to_owned()));
    for verb in verbs {
        assert!(crate::Cli::command().find_subcommand(&verb).is_some(), "{verb}");
    }
}

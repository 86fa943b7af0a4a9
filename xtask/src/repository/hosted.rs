//! The workflows of the hosted CI are YAML with the shape that it reads, and call what exists.

use std::process::Command;

use clap::CommandFactory;

use super::workspace::{files, read, root};
use yaml_rust2::{Yaml, YamlLoader};

/// The workflows, each with its file's name.
fn workflows() -> Vec<(String, Yaml)> {
    let mut all = Vec::new();
    for name in files(&[".github/workflows/*"]) {
        let documents = YamlLoader::load_from_str(&read(&name));
        let mut documents = documents.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(documents.len(), 1, "{name}");
        all.push((name, documents.remove(0)));
    }
    assert!(all.len() >= 2);
    all
}

/// The jobs of a workflow by their name.
fn jobs(workflow: &Yaml) -> Vec<(&str, &Yaml)> {
    let jobs = workflow["jobs"].as_hash().unwrap().iter();
    jobs.map(|(name, job)| (name.as_str().unwrap(), job)).collect()
}

/// All command lines of the workflows.
fn commands() -> Vec<String> {
    let mut commands = Vec::new();
    for (_, workflow) in workflows() {
        for (_, job) in jobs(&workflow) {
            let steps = job["steps"].as_vec().unwrap().iter();
            commands.extend(steps.filter_map(|step| step["run"].as_str().map(str::to_owned)));
        }
    }
    commands
}

#[test]
fn every_job_says_where_it_runs_how_long_at_most_and_what() {
    for (file, workflow) in workflows() {
        assert!(workflow["name"].as_str().is_some(), "{file}: name");
        assert!(workflow["on"].as_hash().is_some(), "{file}: on");
        // What a job may do to the repository is said, and is no more than reading.
        let permissions = workflow["permissions"].as_hash().unwrap();
        let read = (Yaml::String("contents".into()), Yaml::String("read".into()));
        assert_eq!(permissions.iter().collect::<Vec<_>>(), [(&read.0, &read.1)], "{file}");
        for (name, job) in jobs(&workflow) {
            assert!(job["runs-on"].as_str().is_some(), "{file}: {name}: runs-on");
            assert!(job["timeout-minutes"].as_i64().is_some(), "{file}: {name}: timeout-minutes");
            let steps = job["steps"].as_vec().unwrap();
            assert!(!steps.is_empty(), "{file}: {name}: steps");
            for step in steps {
                let kinds = ["run", "uses"].iter().filter(|key| step[**key].as_str().is_some());
                assert_eq!(kinds.count(), 1, "{file}: {name}: {step:?}");
            }
        }
    }
}

#[test]
fn the_workflows_call_scripts_and_verbs_that_exist() {
    let commands = commands();
    let after = |start: &str| -> Vec<String> {
        let found = commands.iter().filter_map(|command| Some(command.split_once(start)?.1));
        found.map(|rest| rest.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let mut scripts = after("bash .ci/");
    scripts.sort();
    assert_eq!(scripts, ["portable", "run"]);
    for script in scripts {
        assert!(root().join(".ci").join(&script).is_file(), "{script}");
        let checked = Command::new("bash").arg("-n").arg(root().join(".ci").join(script)).status();
        assert!(checked.unwrap().success());
    }
    let verbs = after("cargo xtask ");
    assert!(verbs.contains(&"dist".to_owned()));
    for verb in verbs {
        assert!(crate::Cli::command().find_subcommand(&verb).is_some(), "{verb}");
    }
}

//! The pages of measured tables in `results/`.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::process::{Command, Output};

fn check(names: &[&str]) -> Output {
    let xtask = env!("CARGO_BIN_EXE_xtask");
    Command::new(xtask).args(["results", "--check"]).args(names).output().unwrap()
}

#[test]
fn every_page_has_a_head_and_a_link_and_those_from_data_are_up_to_date() {
    let output = check(&[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_page_that_does_not_exist_is_refused() {
    let output = check(&["no-such-page"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no such page"));
}

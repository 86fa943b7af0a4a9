//! What the development commands share.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use workspace::shell::{OF_WORKSPACE, cargo, is_kept, named_by};

mod workspace;

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
fn the_target_folder_is_the_one_that_cargo_builds_in() {
    let place = tempfile::tempdir().unwrap();
    for key in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
        let mut cargo = cargo(OF_WORKSPACE);
        let named = named_by(cargo.env_remove("CARGO_TARGET_DIR").env(key, place.path()));
        assert_eq!(named.unwrap(), place.path(), "{key}");
    }
}

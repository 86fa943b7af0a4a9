//! The committed JSON schema is the one that the types make.
#![cfg(feature = "schema")]
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;

#[test]
fn the_schema_in_docs_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.schema.json");
    let committed: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert!(
        committed == losscause_study::scenario::schema(),
        "renew it with `cargo run -- simulate --schema > docs/scenario.schema.json`"
    );
}

//! The sweeps that come with the papers fit the scenarios they change.
#![cfg(feature = "sweep")]
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;

use losscause_study::sweep::Sweep;

#[test]
fn every_cell_of_the_papers_sweeps_can_be_measured() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let mut cells = 0;
    for paper in std::fs::read_dir(papers).unwrap() {
        let Ok(sweeps) = std::fs::read_dir(paper.unwrap().path().join("sweeps")) else { continue };
        for file in sweeps {
            let sweep = Sweep::load(&file.unwrap().path()).unwrap();
            for cell in sweep.cells() {
                sweep.check(&cell).unwrap();
                cells += 1;
            }
        }
    }
    assert!(cells >= 30, "only {cells} cells were found");
}

//! `analyze`: the JSON of `losscause analyze`.

use std::fs::File;
use std::io::{self, Read};

use losscause_capture::judge::Chosen;
use losscause_capture::{Analysis, CaptureError, Captures, Options};
use losscause_study::{Origin, Registry, Stop, origin};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::{self, Failures};
use crate::error::{about, caught};
use crate::input;
use crate::work;

/// Tells why a capture lost its packets. Returns the JSON that `losscause analyze --format json`
/// prints, and the answer in sentences.
#[pyfunction]
#[pyo3(signature = (capture, ldas, algorithms, *, flow=None, keep_skew=false, progress=None))]
pub(crate) fn analyze(
    py: Python<'_>,
    capture: &Bound<'_, PyAny>,
    ldas: Vec<String>,
    algorithms: &Bound<'_, PyDict>,
    flow: Option<String>,
    keep_skew: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    caught(|| {
        let failures = Failures::default();
        let registry = algorithms::added(
            Registry::of(losscause::registry::Registry::built_in()),
            algorithms,
            &failures,
        )?;
        let chosen = match ldas.is_empty() {
            true => Chosen::all_of(&registry),
            false => Chosen::named(&ldas, &registry)
                .map_err(|error| about(error.to_string(), None, Some("ldas")))?,
        };
        let file = input::path(capture, "capture")?;
        let name = file.display().to_string();
        let mut options = Options::all();
        (options.chosen, options.keep_skew) = (chosen, keep_skew);
        options.flows.texts.extend(flow.clone());
        let analyzed = work::elsewhere(py, failures.stop(), progress, |progress| {
            let opened = File::open(&file)?;
            let bytes = opened.metadata().map_or(0, |metadata| metadata.len() as usize);
            let mut read = 0;
            let stop = failures.stop();
            let told = |more| {
                read += more;
                progress.set(read, bytes);
            };
            losscause_capture::analyze(Watched { file: opened, told, stop }, &name, &options)
        })?;
        failures.take(py, &name, "").map_or(Ok(()), Err)?;
        let analysis: Result<Analysis, CaptureError> = analyzed;
        let analysis =
            analysis.map_err(|error| about(format!("{name}: {error}"), Some(&name), None))?;
        let answer = analysis.answer();
        let flags = keep_skew.then(|| "--keep-skew".to_owned());
        let words = ["analyze".to_owned(), name]
            .into_iter()
            .chain(origin::options("--lda", Some(ldas.join(",")).filter(|all| !all.is_empty())))
            .chain(origin::options("--flow", flow))
            .chain(flags);
        let origin = Origin::of(words, None);
        let mut json = Vec::new();
        Captures { origin, captures: &[analysis] }.write_json(&mut json)?;
        Ok((String::from_utf8(json)?, answer))
    })
}

/// A file that tells how much was read, and ends early if it is told to stop.
struct Watched<'a, F> {
    file: File,
    told: F,
    stop: &'a Stop,
}

impl<F: FnMut(usize)> Read for Watched<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_requested() {
            return Err(io::Error::other("stopped"));
        }
        let read = self.file.read(buffer)?;
        (self.told)(read);
        Ok(read)
    }
}

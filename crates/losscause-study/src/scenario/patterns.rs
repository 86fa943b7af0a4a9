//! Patterns of packet errors in memory: each is read once for all experiments that are made of a
//! scenario.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::fade::{Pattern, Statistics};
use crate::error::InputError;

/// A pattern, ready to use.
#[derive(Debug)]
pub(super) struct Known {
    /// Whether each packet is lost.
    pub(super) lost: Arc<[bool]>,
    pub(super) packets_per_trial: usize,
    pub(super) statistics: Statistics,
}

/// The patterns that a scenario and its copies with other settings have named, by path.
#[derive(Debug, Default)]
pub(super) struct Patterns(Mutex<BTreeMap<PathBuf, Arc<Known>>>);

impl Patterns {
    /// The pattern at `path`, which `read` reads the first time.
    pub(super) fn get(
        &self,
        path: &Path,
        read: impl FnOnce() -> Result<Pattern, InputError>,
    ) -> Result<Arc<Known>, InputError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(path) {
            return Ok(Arc::clone(found));
        }
        let pattern = read()?;
        let found = Arc::new(Known {
            lost: pattern.lost().into(),
            packets_per_trial: pattern.packets_per_trial(),
            statistics: pattern.statistics(),
        });
        known.insert(path.to_owned(), Arc::clone(&found));
        Ok(found)
    }
}

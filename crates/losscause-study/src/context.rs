//! What scenarios and sweeps are read with.

use std::sync::Arc;

use crate::files::{Disk, Files};
use crate::registry::Registry;

/// The algorithms and TCPs that a scenario can name, and the source of its files.
///
/// The default is [`crate::registry()`] and the disk.
#[derive(Clone, Debug)]
pub struct Context {
    registry: Registry,
    files: Arc<dyn Files>,
}

impl Context {
    /// Flows may run what `registry` names. Files are read from the disk.
    pub fn new(registry: Registry) -> Self {
        Self { registry, files: Arc::new(Disk) }
    }

    /// The same with files from `files`.
    #[must_use]
    pub fn with_files(self, files: impl Files + 'static) -> Self {
        Self { files: Arc::new(files), ..self }
    }

    /// The algorithms and TCPs.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The source of files.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new(crate::registry())
    }
}

//! What scenarios and sweeps are read with.

use std::sync::Arc;

use crate::files::{Disk, Files};
use crate::limits::Limits;
use crate::registry::Registry;

/// The algorithms and TCPs that a scenario can name, the source of its files, and what it may ask
/// for.
///
/// The default is [`crate::registry()`], the disk and the usual [`Limits`].
#[derive(Clone, Debug)]
pub struct Context {
    registry: Registry,
    files: Arc<dyn Files>,
    limits: Limits,
}

impl Context {
    /// Flows may run what `registry` names. Files are read from the disk.
    pub fn new(registry: Registry) -> Self {
        Self { registry, files: Arc::new(Disk), limits: Limits::default() }
    }

    /// The same with files from `files`.
    #[must_use]
    pub fn with_files(self, files: impl Files + 'static) -> Self {
        Self { files: Arc::new(files), ..self }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The algorithms and TCPs.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What a scenario may ask for.
    pub fn limits(&self) -> &Limits {
        &self.limits
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

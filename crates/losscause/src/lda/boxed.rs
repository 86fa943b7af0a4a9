//! Algorithms of other crates, behind a pointer.

use alloc::boxed::Box;
use core::any::Any;
use core::fmt;

use super::AnyAlgorithm;
use crate::Judgement;
use crate::algorithm::{Algorithm, Needs, Scope};
use crate::loss::{Loss, Recovery};
use crate::observe::{Numbers, Observation};
use crate::registry::{ConfigError, End, Field, Info, Parameters};

/// An algorithm of another crate; made by [`AnyAlgorithm::boxed`].
///
/// ```
/// use losscause::lda::{AnyAlgorithm, BoxedAlgorithm, BuiltIn, Constant};
/// use losscause::registry::{ConfigError, End};
/// use losscause::{Algorithm, Verdict};
///
/// let mine = AnyAlgorithm::boxed(Constant::new(Verdict::Wireless));
/// assert!(mine.downcast_ref::<Constant>().is_some());
/// // A table of many flows takes the memory of each algorithm's own state.
/// let small: BoxedAlgorithm = BuiltIn::Veno.build(End::Sender)?.in_box();
/// assert_eq!(small.name(), "Veno");
/// assert!(size_of::<BoxedAlgorithm>() < size_of::<AnyAlgorithm>());
/// # Ok::<(), ConfigError>(())
/// ```
pub struct BoxedAlgorithm(Box<dyn Object>);

/// What a box needs of the algorithm inside.
trait Object: Algorithm + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn Object>;
    fn as_any(&self) -> &dyn Any;
}

impl<T: Algorithm + Clone + Send + Sync + 'static> Object for T {
    fn boxed_clone(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Parameters of an algorithm of another crate; made by
/// [`Registry::with`](crate::registry::Registry::with).
pub struct BoxedParameters(Box<dyn ParametersObject>);

trait ParametersObject: Parameters + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn ParametersObject>;
}

impl<T: Parameters + Clone + Send + Sync + 'static> ParametersObject for T {
    fn boxed_clone(&self) -> Box<dyn ParametersObject> {
        Box::new(self.clone())
    }
}

impl AnyAlgorithm {
    /// An algorithm of another crate.
    pub fn boxed(algorithm: impl Algorithm + Clone + Send + Sync + 'static) -> Self {
        Self::Boxed(BoxedAlgorithm::new(algorithm))
    }

    /// The algorithm of another crate inside, if it is a `T`.
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::Boxed(BoxedAlgorithm(inside)) => (**inside).as_any().downcast_ref(),
            _ => None,
        }
    }
}

impl BoxedAlgorithm {
    pub(crate) fn new(inside: impl Algorithm + Clone + Send + Sync + 'static) -> Self {
        Self(Box::new(inside))
    }
}

impl BoxedParameters {
    pub(crate) fn new(inside: impl Parameters + Clone + Send + Sync + 'static) -> Self {
        Self(Box::new(inside))
    }
}

// The boxes themselves implement nothing that could be cloned by mistake.
impl Clone for BoxedAlgorithm {
    fn clone(&self) -> Self {
        Self((*self.0).boxed_clone())
    }
}

impl Clone for BoxedParameters {
    fn clone(&self) -> Self {
        Self((*self.0).boxed_clone())
    }
}

impl Algorithm for BoxedAlgorithm {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        self.0.observe(observation);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        self.0.judge(loss)
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        self.0.on_recovered(recovery)
    }

    fn take_back(&mut self, numbers: Numbers) {
        self.0.take_back(numbers);
    }

    fn scope(&self) -> Scope {
        self.0.scope()
    }

    fn scheme(&self) -> &'static str {
        self.0.scheme()
    }

    fn schemes(&self) -> &'static [&'static str] {
        self.0.schemes()
    }
}

impl Parameters for BoxedParameters {
    fn info(&self) -> &'static Info {
        self.0.info()
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        self.0.field(key)
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        self.0.build(end)
    }
}

impl fmt::Debug for BoxedAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for BoxedParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

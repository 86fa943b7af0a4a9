//! Algorithms of other crates, behind a pointer.

use alloc::boxed::Box;
use core::fmt;

use super::{AnyLda, AnySenderLda, Lda, Needs};
use crate::ack::{AckSample, DeclaredLoss, Recovery, SenderInputs, SenderLda};
use crate::registry::{ConfigError, Field, Info, Parameters};
use crate::{Arrival, Judgement, Loss};

/// Declares a box around any implementation of a trait that can be cloned and sent to another thread.
macro_rules! boxed {
    ($(#[$meta:meta])* $name:ident($object:ident: $trait:ident)) => {
        $(#[$meta])*
        pub struct $name(Box<dyn $object>);

        trait $object: $trait + Send + Sync {
            fn boxed_clone(&self) -> Box<dyn $object>;
        }

        impl<T: $trait + Clone + Send + Sync + 'static> $object for T {
            fn boxed_clone(&self) -> Box<dyn $object> {
                Box::new(self.clone())
            }
        }

        impl $name {
            pub(crate) fn new(inside: impl $trait + Clone + Send + Sync + 'static) -> Self {
                Self(Box::new(inside))
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                // The box itself implements nothing that could be cloned by mistake.
                Self((*self.0).boxed_clone())
            }
        }
    };
}

boxed! {
    /// An algorithm of another crate at a receiver; made by [`AnyLda::boxed`].
    BoxedLda(LdaObject: Lda)
}

boxed! {
    /// An algorithm of another crate at a sender; made by [`AnySenderLda::boxed`].
    BoxedSenderLda(SenderLdaObject: SenderLda)
}

boxed! {
    /// Parameters of an algorithm of another crate; made by [`Registry::with`](crate::registry::Registry::with).
    BoxedParameters(ParametersObject: Parameters)
}

impl AnyLda {
    /// An algorithm of another crate.
    pub fn boxed(lda: impl Lda + Clone + Send + Sync + 'static) -> Self {
        AnyLda::Boxed(BoxedLda::new(lda))
    }
}

impl AnySenderLda {
    /// An algorithm of another crate that looks at acknowledgements.
    pub fn boxed(lda: impl SenderLda + Clone + Send + Sync + 'static) -> Self {
        AnySenderLda::Boxed(BoxedSenderLda::new(lda))
    }
}

impl Lda for BoxedLda {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn on_arrival(&mut self, arrival: &Arrival) {
        self.0.on_arrival(arrival);
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        self.0.judge(loss)
    }

    fn scheme(&self) -> &'static str {
        self.0.scheme()
    }

    fn schemes(&self) -> &'static [&'static str] {
        self.0.schemes()
    }
}

impl SenderLda for BoxedSenderLda {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn needs(&self) -> SenderInputs {
        self.0.needs()
    }

    fn on_ack(&mut self, sample: &AckSample) {
        self.0.on_ack(sample);
    }

    fn on_loss(&mut self, loss: &DeclaredLoss) {
        self.0.on_loss(loss);
    }

    fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        self.0.judge(loss)
    }

    fn on_recovery_end(&mut self, recovery: &Recovery) -> Option<Judgement> {
        self.0.on_recovery_end(recovery)
    }

    fn judges_every_loss(&self) -> bool {
        self.0.judges_every_loss()
    }

    fn observes_every_loss(&self) -> bool {
        self.0.observes_every_loss()
    }

    fn judges_timeouts(&self) -> bool {
        self.0.judges_timeouts()
    }
}

impl Parameters for BoxedParameters {
    fn info(&self) -> &'static Info {
        self.0.info()
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        self.0.field(key)
    }

    fn build(&self) -> Result<AnyLda, ConfigError> {
        self.0.build()
    }

    fn build_at_sender(&self) -> Result<AnySenderLda, ConfigError> {
        self.0.build_at_sender()
    }
}

impl fmt::Debug for BoxedLda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for BoxedSenderLda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for BoxedParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

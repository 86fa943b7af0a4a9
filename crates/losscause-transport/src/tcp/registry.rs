//! TCPs by name, those of other crates among them: what a scenario chooses from.

use super::control::{OwnControl, ResponseScheme};
use super::quirks::{Quirks, SackRules};
use super::recovery::RecoveryScheme;
use super::variant::Variant;

/// A TCP by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tcp {
    /// A published one.
    Published(Variant),
    /// The congestion control of another crate, over SACK (RFC 6675) if nothing else is chosen.
    Own(OwnControl),
}

impl Tcp {
    /// The name in scenarios.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Published(variant) => variant.name(),
            Self::Own(own) => own.name(),
        }
    }

    /// What it is, in one sentence or two.
    pub const fn summary(&self) -> &'static str {
        match self {
            Self::Published(variant) => variant.summary(),
            Self::Own(own) => own.summary(),
        }
    }

    /// The TCP's recovery and response, with the published parameters.
    pub const fn parts(&self, quirks: &Quirks) -> (RecoveryScheme, ResponseScheme) {
        match (self, quirks.sack) {
            (Self::Published(variant), _) => variant.parts(quirks),
            (Self::Own(own), SackRules::Linux) => {
                (RecoveryScheme::RackTlp, ResponseScheme::Own(*own))
            }
            (Self::Own(own), _) => (RecoveryScheme::Sack, ResponseScheme::Own(*own)),
        }
    }
}

/// The published TCPs, and those of other crates.
///
/// ```
/// use losscause_transport::tcp::{
///     AckEvent, Answer, CongestionControl, LossEvent, OwnControl, Registry, TimeoutEvent, Window,
/// };
///
/// /// Never sends more than ten packets per round trip.
/// #[derive(Clone, Debug)]
/// struct Ten;
///
/// impl CongestionControl for Ten {
///     fn name(&self) -> &'static str {
///         "ten"
///     }
///     fn on_ack(&mut self, window: &mut Window, _: &AckEvent) {
///         window.cwnd = 10.0;
///     }
///     fn on_loss(&mut self, _: &mut Window, _: &LossEvent) -> Answer {
///         Answer::Kept
///     }
///     fn on_timeout(&mut self, window: &mut Window, _: &TimeoutEvent) {
///         window.cwnd = 1.0;
///     }
/// }
///
/// let ten = OwnControl::new("ten", "Ten packets per round trip.", &|_| Ten);
/// let registry = Registry::published().with(ten)?;
/// assert!(registry.find("ten").is_some() && registry.find("cubic").is_some());
/// assert_eq!(registry.with(ten).unwrap_err().to_string(), "the TCP \"ten\" is already there");
/// # Ok::<(), losscause_transport::tcp::NameTaken>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    own: Vec<OwnControl>,
}

impl Registry {
    /// The TCPs of this crate.
    pub const fn published() -> Self {
        Self { own: Vec::new() }
    }

    /// The TCPs of the registry and `own`.
    ///
    /// # Errors
    /// A TCP or a response of that name is there already.
    pub fn with(mut self, own: OwnControl) -> Result<Self, NameTaken> {
        let name = own.name();
        if self.find(name).is_some() || self.find_response(name).is_some() {
            return Err(NameTaken { name });
        }
        self.own.push(own);
        Ok(self)
    }

    /// Every TCP: the published ones, then those of other crates in the order in which they were
    /// added.
    pub fn iter(&self) -> impl Iterator<Item = Tcp> {
        Variant::ALL
            .iter()
            .copied()
            .map(Tcp::Published)
            .chain(self.own.iter().copied().map(Tcp::Own))
    }

    /// The TCP of that name.
    pub fn find(&self, name: &str) -> Option<Tcp> {
        self.iter().find(|tcp| tcp.name() == name)
    }

    /// Every response, with published parameters, in the same order.
    pub fn responses(&self) -> impl Iterator<Item = ResponseScheme> {
        ResponseScheme::PUBLISHED
            .iter()
            .copied()
            .chain(self.own.iter().copied().map(ResponseScheme::Own))
    }

    /// The response of that name.
    pub fn find_response(&self, name: &str) -> Option<ResponseScheme> {
        self.responses().find(|response| response.name() == name)
    }
}

/// A TCP or a response of that name is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the TCP \"{name}\" is already there")]
pub struct NameTaken {
    /// The name.
    pub name: &'static str,
}

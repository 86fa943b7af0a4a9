//! The true cause, from a capture's name: `C=5-…-PCIR=1500000-PBC=100000-RTT=100-…-LOSS=0%-…`.

use std::fmt;
use std::path::Path;

use losscause::diagnosis::Cause;

/// What a capture's losses have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Policer,
    Shaper,
    Random,
}

/// The cause that a capture's name tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) class: Class,
    /// Of a policer or shaper, bits per second.
    pub(super) rate_bps: Option<f64>,
}

impl Class {
    pub(super) const ALL: [Self; 3] = [Self::Policer, Self::Shaper, Self::Random];

    /// Whether a cause is that of the class.
    pub(super) fn is(self, cause: &Cause) -> bool {
        match self {
            Self::Policer => matches!(cause, Cause::Policer { .. }),
            Self::Shaper => matches!(cause, Cause::FullQueue | Cause::ManagedQueue),
            Self::Random => matches!(cause, Cause::Air),
        }
    }
}

impl Label {
    pub(super) fn of(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_str()?;
        let value = |key: &str| name.split('-').find_map(|field| field.strip_prefix(key)?.strip_prefix('='));
        let rate = |key| value(key).and_then(|text| text.parse::<f64>().ok());
        let (class, rate_bps) = match (value("LOSS"), rate("PCIR"), rate("SCIR")) {
            (Some(loss), ..) if !loss.starts_with("0%") => (Class::Random, None),
            (_, Some(rate), _) => (Class::Policer, Some(rate)),
            (_, None, Some(rate)) => (Class::Shaper, Some(rate)),
            _ => return None,
        };
        Some(Self { class, rate_bps })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate_bps {
            Some(rate) => write!(f, "{:?} {:.1} Mb/s", self.class, rate / 1e6),
            None => write!(f, "{:?}", self.class),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_cause() {
        let of = |name: &str| Label::of(Path::new(name));
        let policed = of("C=5-CD=1000-PCIR=1500000-PBC=1000000-RTT=100-LOSS=0%-TCP=cubic-T=1-CP=10048.pcap.xz");
        assert_eq!(policed, Some(Label { class: Class::Policer, rate_bps: Some(1.5e6) }));
        assert_eq!(of("SCIR=10000000-RTT=100-LOSS=1%-T=1.pcap").map(|label| label.class), Some(Class::Random));
        assert_eq!(of("SCIR=3000000-SBC=8000-LOSS=0%.pcap").map(|label| label.class), Some(Class::Shaper));
        assert_eq!(of("LICENSE"), None);
    }
}

//! Caps: how much a wrong rule can cost. `bpf/caps.h` applies them.

use losscause::registry::{ConfigError, check};

/// Upper limits of what a connection ignores.
///
/// | setting | unit | default | range |
/// |---|---|---|---|
/// | `max_run` | losses | 1000 | 0 to 2^32 - 1 |
/// | `max_share` | packets | 0.1 | 0 to 1 |
///
/// A run ends with a reduction of the window. Without the cap, a rule that never sees congestion
/// would never yield to other flows. At a loss rate p, a run of 1000 losses ends after 1000/p
/// packets; Reno then averages a window of about sqrt(1500/p) packets, 270 at p = 2 %.
///
/// The share is that of the last 256 to 512 packets. A path that loses more than a tenth of its
/// packets is treated as congested, whatever the rule says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Caps {
    /// At most this many losses in a row are ignored.
    pub max_run: u32,
    /// At most this share of the recent packets may be lost and ignored, 0 to 1.
    pub max_share: f64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { max_run: 1000, max_share: 0.1 }
    }
}

impl Caps {
    /// The settings' names, with what they mean.
    pub const SETTINGS: [(&'static str, &'static str); 2] = [
        ("max_run", "at most this many losses in a row are ignored, a whole number"),
        ("max_share", "at most this share of the recent packets may be lost and ignored, 0 to 1"),
    ];

    /// Sets one cap; `None` if there is none of that name.
    pub(super) fn set(&mut self, key: &str, value: f64) -> Option<Result<(), ConfigError>> {
        Some(match key {
            "max_run" => {
                let whole = |v: f64| f64::from(v as u32) == v;
                check("max_run", value, whole, "a whole number from 0 to 2^32 - 1")
                    .map(|()| self.max_run = value as u32)
            }
            "max_share" => {
                check("max_share", value, |v| (0.0..=1.0).contains(&v), "a number from 0 to 1")
                    .map(|()| self.max_share = value)
            }
            _ => return None,
        })
    }
}

//! Guard and brake as settings. `bpf/response/safeguard.h` applies them.

use losscause::Safeguards;
use losscause::registry::{ConfigError, Value};

/// The names of the settings.
pub(super) const SETTINGS: [&str; 2] = ["guard", "brake"];

/// Sets one safeguard; `None` if there is none of that name.
pub(super) fn set(
    safeguards: &mut Safeguards,
    key: &str,
    value: Value<'_>,
) -> Option<Result<(), ConfigError>> {
    let (name, switch) = match key {
        "guard" => ("guard", &mut safeguards.guard),
        "brake" => ("brake", &mut safeguards.brake),
        _ => return None,
    };
    Some(match value {
        Value::Flag(on) => {
            *switch = on;
            Ok(())
        }
        _ => Err(ConfigError::WrongKind { key: name, expected: "true or false" }),
    })
}

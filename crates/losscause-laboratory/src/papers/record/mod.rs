//! The record of each paper: what it publishes, which of it is measured, and the scenarios that
//! measure it.
//!
//! The record is data, `papers/<paper>/`, and part of the program, which therefore reproduces the
//! papers on any machine. [`Embedded`] lists the files; [`find`] gives a paper by its short name.

mod costs;
mod embedded;
mod explanations;
mod item;
mod items;
mod library;
mod paper;
mod parameters;
mod patterns;
mod plot;
mod published;

pub use costs::{Costs, ItemCosts};
pub(crate) use embedded::FIRST_LOOK;
pub use embedded::{Embedded, PaperTexts, ScenarioText};
pub use explanations::Explanation;
pub use item::{ClaimOutcome, Item, Status, is_tiny};
pub use items::{
    AxisSpec, Calibration, ItemKind, ItemSpec, Items, NetworkOf, OneOrMany, Over, ParameterSetting,
    QuotientOf, Read, Shown,
};
pub use library::{all, find, load_scenario, open_scenario, scenario, scenario_text, with_papers};
pub use paper::Paper;
pub use parameters::{Parameters, Value};
pub use patterns::pattern;
pub use plot::{CurveSpec, EventsSpec, Happening, PhaseSpec, PlotSpec, ScatterSpec, Track};
pub use published::{Claim, Kind, Metric, Number, Published, Role, Summary, System};

//! Requests in JSON and their answers.

use std::collections::BTreeMap;

use losscause::registry::Origin;
use losscause_study::files::Memory;
use losscause_study::{RunError, registry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Lab;

/// What a page can ask, apart from advancing a run and reading its numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// The version, and the algorithms that there are, with their settings.
    Catalogue,
    /// A new run; answered by its number and [`Info`](crate::Info).
    Open(Open),
    /// [`Lab::change_all`] of several runs: all of them, or none. Answered by the
    /// [`Request::Network`] of the first; a failure names the run that refuses it, if not all of
    /// them do.
    Change {
        /// Numbers of the runs.
        labs: Vec<usize>,
        /// Each KEY=VALUE.
        settings: Vec<String>,
    },
    /// [`Lab::watch`]; answered by [`Info`](crate::Info).
    Watch {
        /// Number of the run.
        lab: usize,
        /// Name of the link.
        link: String,
    },
    /// Answered by the links as they are now, all flows, and all changes, also those to come.
    Network {
        /// Number of the run.
        lab: usize,
    },
    /// [`Lab::seek`]; answered by [`Request::Network`].
    Seek {
        /// Number of the run.
        lab: usize,
        /// Where to, seconds.
        to_s: f64,
    },
    /// [`Lab::result`].
    Result {
        /// Number of the run.
        lab: usize,
    },
    /// What is known of a loss, in words.
    Loss {
        /// Number of the run.
        lab: usize,
        /// The loss's place in the list of losses.
        place: usize,
    },
    /// The run is not needed any more.
    Close {
        /// Number of the run.
        lab: usize,
    },
}

/// A new run.
#[derive(Clone, Debug, Deserialize)]
pub struct Open {
    /// The scenario, in TOML.
    pub text: String,
    /// What errors call it.
    pub name: String,
    /// Traces and patterns that it may name, by path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Each KEY=VALUE.
    #[serde(default)]
    pub settings: Vec<String>,
    /// Random seed.
    pub seed: u64,
}

#[derive(Serialize)]
struct Failed {
    error: String,
    /// The one of several runs that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    lab: Option<usize>,
}

impl From<String> for Failed {
    fn from(error: String) -> Self {
        Self { error, lab: None }
    }
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Self {
        error.to_string().into()
    }
}

/// The runs of a page, by their numbers.
#[derive(Debug, Default)]
pub struct Labs(Vec<Option<Lab>>);

impl Labs {
    /// None yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The run of this number.
    pub fn get(&mut self, lab: usize) -> Option<&mut Lab> {
        self.0.get_mut(lab)?.as_mut()
    }

    /// Answers a request; a failure is `{"error": sentence}`.
    pub fn answer(&mut self, request: &str) -> String {
        let request = serde_json::from_str(request)
            .map_err(|error| Failed::from(format!("the request: {error}")));
        let text = match request.and_then(|request| self.carry_out(request)) {
            Ok(answer) => serde_json::to_string(&answer),
            Err(failed) => serde_json::to_string(&failed),
        };
        text.unwrap_or_else(|error| unreachable!("plain data: {error}"))
    }

    fn carry_out(&mut self, request: Request) -> Result<Value, Failed> {
        match request {
            Request::Catalogue => Ok(catalogue()),
            Request::Open(open) => {
                let Open { text, name, files, settings, seed } = open;
                let files =
                    files.into_iter().fold(Memory::new(), |all, (path, text)| all.with(path, text));
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let lab = Lab::new(&text, &name, files, &settings, seed)?;
                let info = lab.info();
                let columns = lab.columns();
                let free = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
                if free == self.0.len() {
                    self.0.push(None);
                }
                self.0[free] = Some(lab);
                Ok(json!({ "lab": free, "columns": columns, "info": info }))
            }
            Request::Change { labs, settings } => {
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                self.change(&labs, &settings)
            }
            Request::Network { lab } => Ok(network(self.known(lab)?)),
            Request::Watch { lab, link } => {
                let lab = self.known(lab)?;
                lab.watch(&link)?;
                Ok(json!(lab.info()))
            }
            Request::Seek { lab, to_s } => {
                let lab = self.known(lab)?;
                lab.seek(to_s);
                Ok(network(lab))
            }
            Request::Result { lab } => {
                let lab = self.known(lab)?;
                Ok(
                    json!({ "json": lab.result(), "finished": lab.is_finished(), "changes": lab.changes() }),
                )
            }
            Request::Loss { lab, place } => {
                let loss = self
                    .known(lab)?
                    .loss(place)
                    .ok_or_else(|| format!("there is no loss number {place}"))?;
                Ok(json!(loss.row()))
            }
            Request::Close { lab } => {
                self.known(lab)?;
                self.0[lab] = None;
                Ok(Value::Null)
            }
        }
    }

    fn change(&mut self, labs: &[usize], settings: &[&str]) -> Result<Value, Failed> {
        let mut changed = Vec::new();
        let mut refused = None;
        for &lab in labs {
            let mut run = self.known(lab)?.clone();
            match run.change_all(settings) {
                Ok(()) => changed.push((lab, run)),
                Err(error) => drop(refused.get_or_insert((lab, error))),
            }
        }
        if let Some((lab, error)) = refused {
            return Err(Failed { lab: (!changed.is_empty()).then_some(lab), ..error.into() });
        }
        let answer = changed.first().map_or(Value::Null, |(_, run)| network(run));
        for (lab, run) in changed {
            self.0[lab] = Some(run);
        }
        Ok(answer)
    }

    fn known(&mut self, lab: usize) -> Result<&mut Lab, String> {
        self.get(lab).ok_or_else(|| format!("there is no run number {lab}"))
    }
}

/// The network as it is now.
fn network(lab: &Lab) -> Value {
    json!({ "links": lab.links(), "flows": lab.flows(), "changes": lab.changes() })
}

fn catalogue() -> Value {
    let registry = registry();
    let algorithms: Vec<Value> = registry
        .infos()
        .map(|info| {
            let settings: Vec<_> = info.settings.iter().map(|setting| (setting.key, setting.meaning)).collect();
            json!({ "name": info.name, "summary": info.summary, "yardstick": info.origin == Origin::Yardstick, "settings": settings })
        })
        .collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "algorithms": algorithms })
}

//! Algorithms that run beside the papers' own: in every table and figure of runs, each in the place
//! of the published algorithms.
//!
//! Systems of a paper that are alike but for their algorithm become one system, because the
//! algorithm is replaced. The values are kept apart from the paper's items, so that neither scores
//! nor claims can read them.

use losscause_study::Registry;
use serde::{Deserialize, Serialize};

use super::Sheet;
use crate::papers::record::{ItemSpec, Paper, System};
use losscause_study::InputError;
use losscause_study::error::unknown;

/// A table in which an algorithm could not run beside the papers', and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The table or figure: "cen2003/table2".
    pub item: String,
    /// The system that was left out: "also flip-flop".
    pub system: String,
    /// Why, in one sentence.
    pub why: String,
}

/// A system to run, by the paper's name, perhaps with another algorithm in the place of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran<'a> {
    pub(super) system: &'a str,
    pub(super) lda: Option<&'a str>,
}

impl<'a> Ran<'a> {
    /// The system as the paper has it.
    pub(super) fn published(system: &'a str) -> Self {
        Self { system, lda: None }
    }
}

/// A system of an item with its algorithm replaced.
#[derive(Clone, Debug)]
pub(super) struct Substitute {
    /// What it is called: "also ZBS". No paper has a system of such a name.
    pub(super) name: String,
    /// The paper's system.
    pub(super) system: &'static str,
}

/// The systems of an item with `algorithm` in the place of their own. Those that are then the same
/// are one. None for items without runs, and for those that look into the runs of one system.
pub(super) fn substitutes(
    paper: &'static Paper,
    spec: &ItemSpec,
    algorithm: &str,
) -> Vec<Substitute> {
    if !spec.is_of_runs() || spec.runs_of.is_some() {
        return vec![];
    }
    // Of the systems that are alike, the first of the paper gives the name, in every item.
    let mut alike: Vec<Vec<&System>> = Vec::new();
    for system in paper.published().system.iter().filter(|system| system.lda.is_some()) {
        match alike.iter_mut().find(|others| is_alike(others[0], system)) {
            Some(others) => others.push(system),
            None => alike.push(vec![system]),
        }
    }
    let is_only = alike.len() == 1;
    let substitute = |systems: &Vec<&'static System>| {
        let system = systems.iter().find(|system| spec.systems.contains(&system.name))?;
        let name = match is_only {
            true => format!("also {algorithm}"),
            false => format!("also {algorithm}, as {}", systems[0].name),
        };
        Some(Substitute { name, system: &system.name })
    };
    alike.iter().filter_map(substitute).collect()
}

/// Whether two systems differ in nothing but their algorithm and its settings.
fn is_alike(one: &System, other: &System) -> bool {
    let rest = |system: &System| -> Vec<String> {
        system.set.iter().filter(|setting| !setting.starts_with("lda.")).cloned().collect()
    };
    (&one.protocol, &one.variant, one.wireless_immune, rest(one))
        == (&other.protocol, &other.variant, other.wireless_immune, rest(other))
}

/// The algorithms by their names in the registry, each once.
///
/// # Errors
/// There is none of that name; the error names the nearest.
pub(super) fn known(
    algorithms: &[String],
    registry: &Registry,
) -> Result<Vec<&'static str>, InputError> {
    let mut names = Vec::new();
    for algorithm in algorithms {
        let Some(entry) = registry.find(algorithm) else {
            let known: Vec<&str> = registry.infos().map(|info| info.name).collect();
            let problem = format!("the algorithm {}", unknown(algorithm, &known));
            return Err(refused(algorithm, problem));
        };
        if !names.contains(&entry.info().name) {
            names.push(entry.info().name);
        }
    }
    Ok(names)
}

/// Refuses an algorithm that runs in no table, for the first of these reasons.
pub(super) fn nowhere(algorithm: &str, left_out: &[LeftOut]) -> InputError {
    let problem = match left_out.iter().find(|one| is_of(&one.system, algorithm)) {
        Some(LeftOut { item, why, .. }) => format!("cannot run in {item}: {why}"),
        None => "no algorithm of a paper runs in what would be measured, expected a table or figure in which one does"
            .into(),
    };
    refused(algorithm, problem)
}

impl Sheet {
    /// Whether it has values of `algorithm` beside the paper's.
    pub(super) fn runs_beside(&self, algorithm: &str) -> bool {
        self.beside.iter().any(|(system, _)| is_of(system, algorithm))
    }
}

/// Whether a system beside the papers' runs `algorithm`.
fn is_of(system: &str, algorithm: &str) -> bool {
    let rest = system.strip_prefix("also ").and_then(|rest| rest.strip_prefix(algorithm));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", as "))
}

fn refused(algorithm: &str, problem: String) -> InputError {
    InputError::option(format!("--also {algorithm}"), problem)
}

#[cfg(test)]
mod tests {
    use losscause::registry::{ConfigError, Info, Parameters};
    use losscause::{Algorithm, AnyAlgorithm, Judgement, Loss, Needs, Observation, Verdict};

    use super::*;
    use crate::papers::record;
    use crate::papers::reproduce::{Event, Plan, Repetitions, Reproduction, Selection, Variation};
    use losscause_study::{Context, Jobs, Setting, Stop, Workers};

    fn names(paper: &str, item: &str) -> Vec<(String, &'static str)> {
        let paper = record::find(paper).unwrap();
        let spec = paper.items_called(item).unwrap()[0];
        substitutes(paper, spec, "mine").into_iter().map(|one| (one.name, one.system)).collect()
    }

    #[test]
    fn systems_that_differ_in_their_algorithm_alone_become_one() {
        assert_eq!(names("cen2003", "table2"), [("also mine".to_owned(), "Omni")]);
        assert_eq!(names("cen2003", "table5"), [], "counted, not run");
        assert_eq!(names("cen2003", "figure13"), [], "of the runs of ZBS");
        assert_eq!(names("koo2007", "figure4"), [], "no algorithm");
        let aware = ("also mine, as TCP-Aware".to_owned(), "TCP-Aware");
        assert_eq!(
            names("biaz1999", "figure10-aware"),
            [aware],
            "others of the paper judge elsewhere"
        );
    }

    #[test]
    fn no_paper_has_a_system_that_is_called_like_one_beside() {
        for paper in record::all() {
            assert!(
                paper.published().system.iter().all(|system| !system.name.starts_with("also "))
            );
        }
    }

    /// Half a minute of every run.
    fn plan(items: &[&str], beside: &[&str], registry: &Registry) -> Result<Plan, InputError> {
        let selection = Selection::parse(items).unwrap().beside(beside);
        let settings =
            ["duration_s=40", "measure.to_s=40"].map(|text| Setting::parse(text).unwrap()).to_vec();
        let variation = Variation { settings, ..Variation::default() };
        Plan::new(
            &Context::new(registry.clone()),
            &selection,
            Repetitions::Exactly(2),
            1,
            &variation,
        )
    }

    fn reproduced(beside: &[&str]) -> (Reproduction, usize) {
        let plan = plan(&["cen2003/table2"], beside, &losscause_study::registry()).unwrap();
        let runs = plan.runs();
        (plan.execute(Jobs::new(2).unwrap(), |_| ()).unwrap(), runs)
    }

    #[test]
    fn an_algorithm_beside_has_the_papers_values_and_changes_none() {
        let (alone, runs) = reproduced(&[]);
        let (with, runs_with) = reproduced(&["Spike", "zbs", "spike"]);
        assert_eq!(runs_with, runs + 2, "those of Spike are there already, and ZBS has two");
        assert_eq!((&alone.items, &alone.claims), (&with.items, &with.claims));
        assert_eq!(alone.scorecards(), with.scorecards());
        assert!(alone.beside.is_empty() && with.left_out.is_empty());
        let names: Vec<&str> = with.beside.iter().map(|item| item.id.as_str()).collect();
        let metrics = ["thput", "cong", "M_c", "M_w"];
        let expected = ["also Spike", "also ZBS"]
            .map(|system| metrics.map(|of| format!("WLH.N1.{system}.{of}")));
        assert_eq!(names, expected.concat());
        let spike: Vec<_> = with.items.iter().filter(|item| item.system == "Spike").collect();
        for (own, beside) in spike.into_iter().zip(&with.beside) {
            assert_eq!(
                (&own.metric, own.measured, own.ci95),
                (&beside.metric, beside.measured, beside.ci95)
            );
            assert_eq!((beside.published, beside.within, beside.runs), (None, None, 2));
        }
        assert_ne!(with.beside[4].measured, with.beside[0].measured);
    }

    #[test]
    fn an_algorithm_is_refused_if_it_is_left_out_everywhere() {
        let refused = |items: &[&str], beside: &str| {
            plan(items, &[beside], &losscause_study::registry()).unwrap_err().to_string()
        };
        let for_senders = "Flip Flop looks at acknowledgements, so it is for TCP senders only";
        let error = refused(&["cen2003/table2"], "flip-flop");
        assert!(
            error.starts_with("--also Flip Flop: cannot run in cen2003/table2: ")
                && error.contains(for_senders),
            "{error}"
        );
        assert_eq!(
            refused(&["koo2007/figure4"], "ZBS"),
            "--also ZBS: no algorithm of a paper runs in what would be measured, expected a table or figure in which one does"
        );
        let error = refused(&["cen2003/table2"], "ZSB");
        assert!(
            error.starts_with(
                "--also ZSB: the algorithm \"ZSB\" is unknown (did you mean \"ZBS\"?)"
            ),
            "{error}"
        );
        let both = plan(
            &["cen2003/table2", "dalwadi/table4.1"],
            &["flip-flop"],
            &losscause_study::registry(),
        )
        .unwrap();
        assert!(
            !both.beside().is_empty() && both.beside().iter().all(|item| item.paper == "dalwadi")
        );
        let [LeftOut { item, system, why }] = &both.left_out[..] else {
            panic!("{:?}", both.left_out)
        };
        assert_eq!((item.as_str(), system.as_str()), ("cen2003/table2", "also Flip Flop"));
        assert!(why.contains(for_senders), "{why}");
    }

    /// Requests a stop at its hundredth packet.
    #[derive(Clone)]
    struct Failing(Stop, u64);

    impl Algorithm for Failing {
        fn name(&self) -> &'static str {
            "failing"
        }
        fn needs(&self) -> Needs {
            Needs::NONE
        }
        fn observe(&mut self, _: &Observation) {
            self.1 += 1;
            if self.1 == 100 {
                self.0.request();
            }
        }
        fn judge(&self, _: &Loss) -> Judgement {
            Judgement::stated(Verdict::Wireless, "failing", "no reason given")
        }
    }

    impl Parameters for Failing {
        fn info(&self) -> &'static Info {
            const { &Info::new("failing", "requests a stop") }
        }
        fn build(&self, _: losscause::End) -> Result<AnyAlgorithm, ConfigError> {
            Ok(AnyAlgorithm::boxed(self.clone()))
        }
    }

    #[test]
    fn a_run_whose_algorithm_fails_is_named() {
        let stop = Stop::new();
        let registry = losscause_study::registry().with(Failing(stop.clone(), 0)).unwrap();
        let plan = plan(&["cen2003/table2"], &["failing"], &registry).unwrap();
        let workers = Workers::from(Jobs::new(2).unwrap()).stopping_at(&stop);
        let mut sheets = 0;
        let error = plan
            .execute(workers, |event| sheets += usize::from(matches!(event, Event::Sheet(..))))
            .unwrap_err();
        let place = "cen2003: Table II, also failing, WLH, N 1, loss high, seed ";
        assert!(error.to_string().starts_with(place), "{error}");
        assert_eq!(sheets, 0);
    }
}

//! The results in words, in CSV and as a page.

use losscause_report::map::{Map, MapCell, MapGroup, MapPage, MapRow};
use losscause_report::map_html;
use losscause_study::tools::csv_file;

use crate::abroad::kinds::Role;
use crate::abroad::verdicts::{OfKind, OfRole, Shares, Verdicts};
use crate::paths::score::Estimate;

/// What is shown of each algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Congestion losses called wireless.
    MC,
    /// Wireless losses called wireless.
    Found,
}

impl Measure {
    /// Both.
    pub const ALL: [Self; 2] = [Self::MC, Self::Found];

    /// What it is, as the heading of a table.
    pub fn heading(self) -> &'static str {
        match self {
            Self::MC => "Congestion losses called wireless (M_c), %",
            Self::Found => "Wireless losses found, %",
        }
    }

    /// Its value.
    pub fn of(self, shares: &Shares) -> Option<Estimate> {
        match self {
            Self::MC => shares.m_c,
            Self::Found => shares.found,
        }
    }

    /// On how many flows of a kind it rests.
    fn flows(self, kind: &OfKind) -> usize {
        match self {
            Self::MC => kind.congestion_flows,
            Self::Found => kind.wireless_flows,
        }
    }

    /// On how many kinds of a role it rests.
    fn kinds(self, role: &OfRole) -> usize {
        match self {
            Self::MC => role.congestion_kinds,
            Self::Found => role.wireless_kinds,
        }
    }
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareRow<'a> {
    /// The kind, or "mean of 19 kinds".
    pub name: String,
    /// The flows that it rests on: "12"; of a mean none.
    pub basis: String,
    /// One per algorithm, in their order.
    pub shares: &'a [Shares],
}

impl Verdicts {
    /// The names of the algorithms, in their order.
    pub fn names(&self) -> Vec<&'static str> {
        self.algorithms.iter().map(|judge| judge.algorithm).collect()
    }

    /// What these algorithms say of all kinds, a sentence per role.
    pub fn answers(&self, algorithms: &[&str]) -> Vec<String> {
        self.means.iter().map(|mean| mean.answer(algorithms)).collect()
    }

    /// The rows of a role, its kinds and their mean; none if it has no kind.
    pub fn rows(&self, role: Role, measure: Measure) -> Vec<ShareRow<'_>> {
        let kinds = self.kinds.iter().filter(|kind| kind.role == role).map(|kind| ShareRow {
            name: kind.kind.to_owned(),
            basis: measure.flows(kind).to_string(),
            shares: &kind.shares,
        });
        let means = self.means.iter().filter(|mean| mean.role == role).map(|mean| ShareRow {
            name: match measure.kinds(mean) {
                1 => "mean of 1 kind".to_owned(),
                kinds => format!("mean of {kinds} kinds"),
            },
            basis: String::new(),
            shares: &mean.shares,
        });
        kinds.chain(means).collect()
    }

    /// A row per flow and algorithm.
    pub fn csv(&self) -> String {
        let mut records = Vec::new();
        for flow in &self.flows {
            for (index, judge) in self.algorithms.iter().enumerate() {
                records.push(vec![
                    flow.kind.to_owned(),
                    flow.number.to_string(),
                    flow.run_seed.to_string(),
                    flow.flow.to_string(),
                    judge.algorithm.to_owned(),
                    flow.congestion_losses.to_string(),
                    flow.called_wireless[index].to_string(),
                    flow.wireless_losses.to_string(),
                    flow.found[index].to_string(),
                ]);
            }
        }
        let header = [
            "kind",
            "number",
            "run_seed",
            "flow",
            "algorithm",
            "congestion_losses",
            "called_wireless",
            "wireless_losses",
            "found",
        ];
        csv_file::text_of_records(header.map(String::from).into(), records)
    }

    /// The page.
    pub fn html(&self) -> String {
        let mut answers = self.answers(&self.names());
        if answers.is_empty() {
            answers.push("No kind was drawn".to_owned());
        }
        map_html(&MapPage {
            title: "abroad".to_owned(),
            answers,
            what: format!(
                "{} networks of seed {} of each kind; the flows are stock, and all algorithms at the sender judge the same \
                 losses. Held-out kinds are those that nothing was fitted to.",
                self.networks, self.seed
            ),
            maps: Measure::ALL.into_iter().map(|measure| self.map(measure)).collect(),
            csv: self.csv(),
            csv_name: "flows.csv".to_owned(),
            footnote: format!(
                "losscause reproduce abroad --seed {} --networks {}: the same program gives the same page.",
                self.seed, self.networks
            ),
        })
    }

    fn map(&self, measure: Measure) -> Map {
        let cell = |shares: &Shares| match (measure, measure.of(shares)) {
            (Measure::MC, Some(share)) => MapCell::error(Some(share.value)),
            (Measure::Found, Some(share)) => MapCell::right(share.value),
            (_, None) => MapCell::error(None),
        };
        let row = |row: ShareRow<'_>| MapRow {
            name: row.name,
            basis: row.basis,
            cells: row.shares.iter().map(cell).collect(),
        };
        let group = |role: Role| MapGroup {
            name: format!("{} kinds", role.name()),
            rows: self.rows(role, measure).into_iter().map(row).collect(),
        };
        Map {
            heading: measure.heading().to_owned(),
            note: "The mean over the flows that have such a loss; in the last row of a group over its kinds, all alike."
                .to_owned(),
            columns: self.names().into_iter().map(String::from).collect(),
            groups: Role::ALL.map(group).into_iter().filter(|group| !group.rows.is_empty()).collect(),
            remarks: Vec::new(),
        }
    }
}

impl OfRole {
    fn answer(&self, algorithms: &[&str]) -> String {
        let percent = |share: Option<Estimate>| {
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", 100.0 * share.value))
        };
        let shares = |name: &&str| self.shares.iter().find(|shares| shares.algorithm == *name);
        let mut sentences = Vec::new();
        for Shares { algorithm, m_c, found } in algorithms.iter().filter_map(shares) {
            let [m_c, found] = [m_c, found].map(|share| percent(*share));
            sentences.push(match sentences.len() {
                0 => format!(
                    "{algorithm} calls {m_c} of congestion losses wireless and finds {found} of wireless losses"
                ),
                _ => format!("{algorithm} {m_c} and {found}"),
            });
        }
        format!("On {} kinds, {}.", self.role.name(), sentences.join("; "))
    }
}

impl Estimate {
    /// `12.3 [8, 17]`, percent.
    pub fn percent(self) -> String {
        let value = 100.0 * self.value;
        match self.ci95 {
            Some([low, high]) => format!("{value:.1} [{:.0}, {:.0}]", 100.0 * low, 100.0 * high),
            None => format!("{value:.1}"),
        }
    }
}

//! The results in words, in CSV and as a page.

use losscause_report::map::MapPage;
use losscause_study::tools::csv_file;
use losscause_study::tools::table::{Cell, Table};

use crate::abroad::diagnosed::Diagnoses;
use crate::abroad::in_loop::{Steered, SteeredRow};
use crate::abroad::kinds::Role;
use crate::abroad::verdicts::{OfKind, OfRole, Shares, Verdicts};
use crate::drawn::found::{footnote, in_short};
use crate::drawn::score::Estimate;
use crate::drawn::{Found, Part, Shown};

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

    /// A share as a text with its interval; empty for none.
    pub fn in_full(share: Option<Estimate>) -> Cell {
        share.map_or_else(String::new, of_hundred).into()
    }

    /// A share in whole percent, shaded: few wireless calls are good, and many found losses.
    fn in_short(self, share: Option<Estimate>) -> Cell {
        let value = share.map(|share| share.value);
        let cell = match self {
            Self::MC => in_short(value),
            Self::Found => value.map_or_else(
                || in_short(None),
                |found| Cell::from(format!("{:.0}", 100.0 * found)).wrong(1.0 - found),
            ),
        };
        match share {
            Some(share) => cell.tip(of_hundred(share)),
            None => cell,
        }
    }

    /// The row of a kind: its name, on how many flows it rests, the shares of each algorithm.
    fn of_kind(self, kind: &OfKind) -> ShareRow<'_> {
        let flows = match self {
            Self::MC => kind.congestion_flows,
            Self::Found => kind.wireless_flows,
        };
        (kind.kind.to_owned(), flows.to_string(), kind.shares.as_slice())
    }

    /// The row of a role's mean over its kinds; none if it rests on none.
    fn of_mean(self, mean: &OfRole) -> Option<ShareRow<'_>> {
        let kinds = match self {
            Self::MC => mean.congestion_kinds,
            Self::Found => mean.wireless_kinds,
        };
        (kinds > 0).then(|| (mean_of_kinds(kinds), String::new(), mean.shares.as_slice()))
    }
}

/// A row of a table: its name, on what it rests, and the shares of each algorithm.
type ShareRow<'a> = (String, String, &'a [Shares]);

impl Found for Verdicts {
    const CSV: &'static str = "flows.csv";

    /// The answer is about the algorithms that are shown, and so are the tables of a text.
    fn shown(&self, command: &str) -> Shown {
        let answers = self.answers();
        let mut text = vec![Part::Text(answers.join("\n"))];
        let tables =
            Measure::ALL.map(|of| Part::Table(self.table(of, &self.shown, Measure::in_full)));
        text.extend(tables);
        text.push(
            "Mean over the flows with at least five such losses, with its 95 % interval over networks; kinds count alike in a mean."
                .into(),
        );
        let diagnoses = self.diagnoses_table();
        if let Some(table) = diagnoses.clone() {
            let note = Part::Text(table.note.clone());
            text.extend([Part::Table(table), note]);
        }
        let maps = Measure::ALL.map(|of| self.table(of, &self.names(), |share| of.in_short(share)));
        let csv = self.flows_csv();
        let page = MapPage {
            title: self.at.item().to_owned(),
            answers,
            what: format!(
                "{} networks of seed {} of each kind. {} Held-out kinds are those that nothing was fitted to.",
                self.networks,
                self.seed,
                self.at.what()
            ),
            maps: maps.into_iter().chain(diagnoses).map(|table| (table, Vec::new())).collect(),
            csv: csv.clone(),
            csv_name: Self::CSV.to_owned(),
            footnote: footnote(command),
        };
        Shown { text, page, csv }
    }
}

impl Verdicts {
    /// The names of the algorithms, in their order.
    pub fn names(&self) -> Vec<&'static str> {
        self.algorithms.iter().map(|judge| judge.algorithm).collect()
    }

    /// What the algorithms that are shown say of all kinds, a sentence per role; none without a
    /// loss. In captures, also what the diagnosis says.
    fn answers(&self) -> Vec<String> {
        let mut answers: Vec<String> =
            self.means.iter().filter_map(|mean| mean.answer(&self.shown)).collect();
        if answers.is_empty() {
            answers.push("No kind had enough losses.".to_owned());
        }
        answers.extend(self.diagnoses.iter().filter_map(Diagnoses::answer));
        answers
    }

    /// How often the diagnoses of a role's flows are right: a row per kind with such flows, then
    /// their sum. None outside of captures.
    fn diagnoses_of(&self, role: Role) -> Vec<&Diagnoses> {
        let own = |row: &&Diagnoses| row.role == role && row.flows + row.mixed > 0;
        self.diagnoses.iter().filter(own).collect()
    }

    /// A row per flow and algorithm.
    fn flows_csv(&self) -> String {
        let mut table = Table::new([
            "kind",
            "number",
            "run_seed",
            "flow",
            "algorithm",
            "congestion_losses",
            "called_wireless",
            "wireless_losses",
            "found",
        ]);
        for flow in &self.flows {
            for (index, judge) in self.algorithms.iter().enumerate() {
                table.row([
                    flow.kind.clone(),
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
        table.csv()
    }

    /// How often the causes of whole flows are right; none outside of captures.
    fn diagnoses_table(&self) -> Option<Table> {
        let heads = ["", "flows"].into_iter().chain(Diagnoses::HEADS);
        let table = Table::new(heads).numbers(1..).title(Diagnoses::HEADING).note(Diagnoses::NOTE);
        let row = |row: &Diagnoses| {
            [row.name().to_owned(), row.flows.to_string()].into_iter().chain(row.cells())
        };
        let table = by_role(table, |role| self.diagnoses_of(role).into_iter().map(row));
        (!table.rows.is_empty()).then_some(table)
    }

    /// A measure of these algorithms: the kinds of each role and their mean. `cell` gives a share
    /// as a cell.
    fn table(
        &self,
        measure: Measure,
        algorithms: &[&str],
        cell: impl Fn(Option<Estimate>) -> Cell,
    ) -> Table {
        let heads = ["", "flows"].into_iter().chain(algorithms.iter().copied());
        let table = Table::new(heads).numbers(1..).title(measure.heading()).note(
            "The mean over the flows with at least five such losses; in the last row of a group over its kinds, all alike.",
        );
        let row = |(name, basis, shares): ShareRow<'_>| -> Vec<Cell> {
            let of = |name: &&str| {
                let shares = shares.iter().find(|shares| shares.algorithm == *name);
                cell(shares.and_then(|shares| measure.of(shares)))
            };
            let head = [Cell::from(name), Cell::from(basis).class("soft")];
            head.into_iter().chain(algorithms.iter().map(of)).collect()
        };
        by_role(table, |role| {
            let kinds = self.kinds.iter().filter(move |kind| kind.role == role);
            let means = self.means.iter().filter(move |mean| mean.role == role);
            let kinds = kinds.map(|kind| measure.of_kind(kind));
            kinds.chain(means.filter_map(|mean| measure.of_mean(mean))).map(&row)
        })
    }
}

/// The table with the rows of each role below its name.
fn by_role<C: Into<Cell>, R: IntoIterator<Item = C>, I: Iterator<Item = R>>(
    mut table: Table,
    rows: impl Fn(Role) -> I,
) -> Table {
    for role in Role::ALL {
        table.group_of(format!("{} kinds:", role.name()), rows(role));
    }
    table
}

impl OfRole {
    /// The first algorithm in full, the others in short; none if one has no share.
    fn answer(&self, algorithms: &[&str]) -> Option<String> {
        let percent = |share: Option<Estimate>| Some(format!("{:.0} %", 100.0 * share?.value));
        let mut parts = Vec::new();
        for name in algorithms {
            let shares = self.shares.iter().find(|shares| shares.algorithm == *name)?;
            let m_c = percent(shares.m_c);
            let found = percent(shares.found);
            let told = if parts.is_empty() {
                let m_c = m_c.map(|m_c| format!("calls {m_c} of congestion losses wireless"));
                let found = found.map(|found| format!("finds {found} of wireless losses"));
                [m_c, found]
            } else {
                [m_c, found]
            };
            let told: Vec<String> = told.into_iter().flatten().collect();
            if told.is_empty() {
                return None;
            }
            parts.push(format!("{name} {}", told.join(" and ")));
        }
        Some(format!("On {} kinds, {}.", self.role.name(), parts.join("; ")))
    }
}

impl Diagnoses {
    /// The heading of a table of them.
    pub const HEADING: &'static str = "The cause of whole flows";
    /// What the table counts.
    pub const NOTE: &'static str = "Flows that lost eight packets or more, four fifths of them by one cause; in the last column \
        the others with so many losses.";
    /// The heads of [`Diagnoses::cells`].
    pub const HEADS: [&'static str; 4] =
        ["clear: right", "likely: right", "cannot tell", "mixed: named"];

    /// The kind, or "all".
    pub fn name(&self) -> &'static str {
        self.kind.unwrap_or("all")
    }

    /// The row's values as texts: "4 of 5" are five flows of which four causes are right.
    pub fn cells(&self) -> [String; 4] {
        let part = |of: usize, part: usize| match of {
            0 => String::new(),
            of => format!("{part} of {of}"),
        };
        [
            part(self.clear, self.clear_right),
            part(self.likely, self.likely_right),
            self.cannot_tell.to_string(),
            part(self.mixed, self.mixed_named),
        ]
    }

    /// A sentence about a role; none about a kind, and none without a flow.
    fn answer(&self) -> Option<String> {
        let Self { flows, clear, clear_right, likely, likely_right, cannot_tell, .. } = self;
        (self.kind.is_none() && *flows > 0).then(|| {
            format!(
                "Of {flows} flows on {} kinds, the cause of {clear} is clear ({clear_right} right), of {likely} likely \
                 ({likely_right} right), and of {cannot_tell} it cannot be told.",
                self.role.name()
            )
        })
    }
}

impl Found for Steered {
    const CSV: &'static str = "loop.csv";

    /// What the systems cost and bring, a sentence per role; a table for each but, in a text, the
    /// stock one.
    fn shown(&self, command: &str) -> Shown {
        let mut answers: Vec<String> =
            Role::ALL.into_iter().filter_map(|role| self.answer(role)).collect();
        if answers.is_empty() {
            answers.push("No packet was sent.".to_owned());
        }
        let tables: Vec<Table> = self.systems.iter().map(|system| self.table(system)).collect();
        let mut text = vec![Part::Text(answers.join("\n"))];
        text.extend(tables.iter().skip(1).cloned().map(|table| Part::Table(table.title(""))));
        text.push(
            "Drops of queues per 1000 packets sent, and goodput: mean over networks, beside stock CUBIC's. Goodput over stock's \
             and over that of CUBIC that is told the true causes: geometric mean, with its 95 % interval over networks; kinds \
             count alike in a mean."
                .into(),
        );
        let csv = csv_file::text(self.runs.iter());
        let page = MapPage {
            title: "abroad in the loop".to_owned(),
            answers,
            what: format!(
                "{} networks of seed {} of each kind; all flows run the system. Held-out kinds are those that nothing was \
                 fitted to.",
                self.networks, self.seed
            ),
            maps: tables.into_iter().map(|table| (table, Vec::new())).collect(),
            csv: csv.clone(),
            csv_name: Self::CSV.to_owned(),
            footnote: footnote(command),
        };
        Shown { text, page, csv }
    }
}

impl Steered {
    fn answer(&self, role: Role) -> Option<String> {
        let means = || self.means.iter().filter(move |mean| mean.role == role);
        let drops = |row: &SteeredRow| Some(row.drops_per_1000?.value);
        let stock = drops(means().next()?)?;
        let of = |row: &SteeredRow| {
            let over_stock = row.over_stock?.value;
            Some(format!("{} {:.1}, at {over_stock:.2} times the goodput", row.system, drops(row)?))
        };
        let found: Vec<String> = means().skip(1).filter_map(of).collect();
        Some(format!(
            "On {} kinds, queues drop {stock:.1} of 1000 packets of stock CUBIC; {}.",
            role.name(),
            found.join("; ")
        ))
    }

    /// The rows of a system: those of a role's kinds, then their mean.
    fn rows_of(&self, system: &str, role: Role) -> Vec<&SteeredRow> {
        let own = |row: &&SteeredRow| row.system == system && row.role == role;
        self.rows.iter().filter(own).chain(self.means.iter().filter(own)).collect()
    }

    /// Stock CUBIC's row of the same kinds.
    fn beside(&self, row: &SteeredRow) -> Option<&SteeredRow> {
        let stock = self.systems.first()?;
        self.rows_of(stock, row.role).into_iter().find(|own| own.kind == row.kind)
    }

    /// What a system costs and brings: the kinds of each role and their mean.
    fn table(&self, system: &str) -> Table {
        let heads = [system].into_iter().chain(SteeredRow::HEADS);
        let table = Table::new(heads).numbers(1..).title(system).note(
            "Drops per 1000 packets and Mb/s: mean over networks. Ratios: geometric mean. In the last row of a group over \
             its kinds, all alike.",
        );
        let row = |row: &SteeredRow| [row.name(self)].into_iter().chain(row.cells(self));
        by_role(table, |role| self.rows_of(system, role).into_iter().map(row))
    }
}

impl SteeredRow {
    /// The heads of [`SteeredRow::cells`].
    pub const HEADS: [&'static str; 6] =
        ["drops ‰", "stock", "Mb/s", "stock", "over stock", "over the truth"];

    /// The kind, or "mean of 18 kinds".
    pub fn name(&self, all: &Steered) -> String {
        let kinds = || all.rows_of(&self.system, self.role).len() - 1;
        self.kind.map_or_else(|| mean_of_kinds(kinds()), str::to_owned)
    }

    /// The row's values as texts.
    pub fn cells(&self, all: &Steered) -> [String; 6] {
        let stock = all.beside(self);
        let text = |estimate: Option<Estimate>, digits: usize| {
            estimate.map_or_else(String::new, |estimate| format!("{:.digits$}", estimate.value))
        };
        let ratio = |estimate: Option<Estimate>| {
            estimate.map_or_else(String::new, |estimate| estimate.text([2, 2]))
        };
        [
            text(self.drops_per_1000, 1),
            text(stock.and_then(|stock| stock.drops_per_1000), 1),
            text(self.goodput_mbps, 2),
            text(stock.and_then(|stock| stock.goodput_mbps), 2),
            ratio(self.over_stock),
            ratio(self.over_told),
        ]
    }
}

fn mean_of_kinds(kinds: usize) -> String {
    match kinds {
        1 => "mean of 1 kind".to_owned(),
        kinds => format!("mean of {kinds} kinds"),
    }
}

/// `12.3 [8, 17]`, percent.
fn of_hundred(share: Estimate) -> String {
    share.percent().text([1, 0])
}

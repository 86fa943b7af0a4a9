//! The results in words, in CSV and as a page.

use std::fmt::Write;

use losscause::registry::Origin;
use losscause_report::map::MapPage;
use losscause_study::tools::csv_file;
use losscause_study::tools::table::{Cell, Table};

use crate::drawn::found::{footnote, in_short};
use crate::drawn::score::Estimate;
use crate::drawn::{End, Found, Part, Shown};
use crate::paths::benchmark::{AtVantage, Benchmark, LevelErrors, Row};
use crate::paths::in_loop::{InLoop, LEAST_CONGESTION_LOSSES, LOSS_RATES, LoopRow, Spread};
use crate::paths::path::Path;

/// An algorithm works at a level if it errs at most so often there.
pub const WORKS: f64 = 0.2;

/// The balanced error of an answer that is always the same.
const CONSTANT: f64 = 0.5;

/// A level with fewer paths says nothing about where an algorithm works.
const LEAST_PATHS: usize = 5;

/// Where paths come from, for both pages.
const DRAWN: &str = "Each path is drawn from its seed and number";

impl Found for Benchmark {
    const CSV: &'static str = "paths.csv";

    /// The answer, a sentence or two per end; the page: where does each algorithm work?
    fn shown(&self, command: &str) -> Shown {
        let answers = self.vantages.iter().map(AtVantage::answer);
        let mut text: Vec<Part> = answers.clone().map(Part::Text).collect();
        text.extend(self.vantages.iter().map(|at| Part::Table(at.table().title(""))));
        text.push(
            "Balanced error: the mean of M_c and M_w, with its 95 % interval over paths. Below the best: by how many percent \
             it is below that of the best published algorithm."
                .into(),
        );
        let maps = self.vantages.iter();
        let maps =
            maps.flat_map(|at| [(at.table(), Vec::new()), (at.map(), at.where_each_works())]);
        let page = MapPage {
            title: "paths".to_owned(),
            answers: [self.headline()].into_iter().chain(answers).collect(),
            what: format!(
                "{} paths of seed {}. {DRAWN}; behind one transport all algorithms judge the same losses. The balanced \
                 error is the mean of M_c and M_w.",
                self.paths, self.seed
            ),
            maps: maps.collect(),
            csv: self.map_csv(),
            csv_name: "map.csv".to_owned(),
            footnote: footnote(command),
        };
        Shown { text, page, csv: self.paths_csv() }
    }
}

impl Benchmark {
    /// A row per path, end and algorithm.
    fn paths_csv(&self) -> String {
        let factors = self.factors();
        let names = factors.iter().map(|factor| factor.replace(' ', "_").to_lowercase());
        let begin = ["vantage", "seed", "number"].map(String::from).into_iter();
        let end = ["congestion_losses", "wireless_losses", "algorithm", "balanced_error"];
        let mut table = Table::new(begin.chain(names).chain(end.map(String::from)));
        for at in &self.vantages {
            for path in &at.by_path {
                for (row, error) in at.algorithms.iter().zip(&path.errors) {
                    let begin =
                        [at.vantage.to_owned(), self.seed.to_string(), path.number.to_string()];
                    let mut cells = begin.to_vec();
                    cells.extend(path.levels.iter().map(|level| (*level).to_owned()));
                    // A receiver has no reports of losses.
                    cells.resize(begin.len() + factors.len(), String::new());
                    cells.extend([path.losses.0, path.losses.1].map(|losses| losses.to_string()));
                    cells.extend([row.algorithm.to_owned(), in_full(*error)]);
                    table.row(cells);
                }
            }
        }
        table.csv()
    }

    /// A row per end, level and algorithm.
    fn map_csv(&self) -> String {
        let mut table =
            Table::new(["vantage", "factor", "level", "algorithm", "paths", "balanced_error"]);
        for at in &self.vantages {
            for level in &at.levels {
                for (row, error) in at.algorithms.iter().zip(&level.errors) {
                    let texts = [at.vantage, level.factor, level.level, row.algorithm];
                    let numbers = [level.paths.to_string(), in_full(*error)];
                    table.row(texts.map(String::from).into_iter().chain(numbers));
                }
            }
        }
        table.csv()
    }

    /// All factors; those of a sender.
    fn factors(&self) -> Vec<&'static str> {
        Path::draw(self.seed, 0).levels(End::Sender).iter().map(|level| level.factor).collect()
    }

    fn headline(&self) -> String {
        let best = self.vantages.iter().filter_map(|at| {
            let best = at.algorithms.first()?;
            Some(format!(
                "at the {} {}, wrong {}",
                at.vantage,
                best.algorithm,
                percent(best.error?)
            ))
        });
        let best: Vec<String> = best.collect();
        if best.is_empty() {
            "No path had enough losses".to_owned()
        } else {
            format!("Best on average: {}", best.join("; "))
        }
    }
}

impl AtVantage {
    fn answer(&self) -> String {
        let of = |name: &str| self.algorithms.iter().find(|row| row.algorithm == name);
        let Some((best, error)) =
            self.best_published.and_then(of).and_then(|row| Some((row, row.error?)))
        else {
            return format!("At the {}: no path had enough losses.", self.vantage);
        };
        let always = of("always congestion").and_then(|row| row.error);
        let beside = [
            ("; always congestion has", always),
            (", the best published one of each path in hindsight", self.best_per_path),
            (", and chosen by one half of the path's losses, on the other", self.best_by_halves),
        ];
        let beside = beside.into_iter().filter_map(|(who, error)| Some((who, error?)));
        let beside = beside.map(|(who, error)| format!("{who} {}", percent(error)));
        let mut text = format!(
            "At the {}, on {} paths: the best published algorithm is {}, with a balanced error of {}{}.",
            self.vantage,
            self.scored_paths,
            best.algorithm,
            with_ends(error),
            beside.collect::<String>()
        );
        let own = self
            .algorithms
            .iter()
            .filter(|row| row.origin.is_unpublished() && !row.algorithm.starts_with("always "));
        for row in own {
            if let (Some(error), Some(reduction)) = (row.error, row.reduction) {
                let (less, reduction) = match reduction.value >= 0.0 {
                    true => ("less", reduction),
                    false => ("more", reduction.negative()),
                };
                let reduction = reduction.percent();
                _ = write!(
                    text,
                    " {} has {}: {:.0} % {} {less} than the best published.",
                    row.algorithm,
                    with_ends(error),
                    reduction.value,
                    reduction.ends(0)
                );
            }
        }
        text
    }

    /// All algorithms over all paths.
    fn table(&self) -> Table {
        let error = |share: Option<f64>| {
            let text = |share| format!("{:.1} %", 100.0 * share);
            share.map_or_else(Cell::default, |share| Cell::from(text(share)).wrong(share))
        };
        let mut table =
            Table::new([self.vantage, "", "error", "95 %", "M_c", "M_w", "below the best"])
                .numbers(2..)
                .title(format!("At the {}", self.vantage))
                .note(format!(
                    "Over {} paths, percent; the error with its 95 % interval over paths, and by how much it is below \
                     that of the best published algorithm.",
                    self.scored_paths
                ));
        for row in &self.algorithms {
            let origin = match row.origin {
                Origin::Published => "published",
                Origin::Yardstick => "other stack",
                Origin::Other => "",
            };
            table.row([
                row.algorithm.into(),
                origin.into(),
                error(row.error.map(|error| error.value)),
                row.error.map_or_else(String::new, ends).into(),
                error(row.m_c),
                error(row.m_w),
                row.reduction.map_or_else(String::new, |share| share.percent().text([0, 0])).into(),
            ]);
        }
        let chosen =
            [("hindsight", self.best_per_path), ("by half of the losses", self.best_by_halves)];
        for (how, found) in chosen.into_iter().filter_map(|(how, error)| Some((how, error?))) {
            table.row([
                Cell::from("best published per path"),
                how.into(),
                error(Some(found.value)),
                ends(found).into(),
            ]);
        }
        table
    }

    /// Errors by level.
    fn map(&self) -> Table {
        let heads = self.algorithms.iter().map(|row| row.algorithm);
        let heads = ["", "paths"].into_iter().chain(heads).chain(["best per path"]);
        let mut table = Table::new(heads)
            .numbers(1..)
            .title(format!("Where each one works, at the {}", self.vantage))
            .note(
                "Balanced error, percent, on the paths of each level: green is better than a constant answer, red is \
                 worse. A level with few paths says little. The last column takes for each path the published one that \
                 turned out best there.",
            );
        let mut last = None;
        for LevelErrors { factor, level, paths, errors, best_per_path } in &self.levels {
            if last.replace(factor) != Some(factor) {
                table.group(*factor);
            }
            let errors = errors.iter().chain([best_per_path]).map(|error| in_short(*error));
            let head = [Cell::from(*level), Cell::from(paths.to_string()).class("soft")];
            table.row(head.into_iter().chain(errors));
        }
        table
    }

    /// A sentence per algorithm, except those that always say the same.
    pub fn where_each_works(&self) -> Vec<String> {
        let sentence = |(index, row): (usize, &Row)| {
            let levels = self.levels.iter().filter(|level| level.paths >= LEAST_PATHS);
            let mut works = Vec::new();
            let mut fails = Vec::new();
            for level in levels {
                match level.errors[index] {
                    Some(error) if error <= WORKS => works.push(level.level),
                    Some(error) if error >= CONSTANT => fails.push(level.level),
                    _ => {}
                }
            }
            let list = |names: &[&str]| {
                if names.is_empty() { "nowhere".to_owned() } else { names.join(", ") }
            };
            format!(
                "{}: at most {:.0} % wrong: {}; no better than a constant answer: {}.",
                row.algorithm,
                100.0 * WORKS,
                list(&works),
                list(&fails)
            )
        };
        let judges = |(_, row): &(usize, &Row)| !row.algorithm.starts_with("always ");
        self.algorithms.iter().enumerate().filter(judges).map(sentence).collect()
    }
}

impl Found for InLoop {
    const CSV: &'static str = "loop.csv";

    /// The answer, a sentence per end.
    fn shown(&self, command: &str) -> Shown {
        let mut answers: Vec<String> =
            End::ALL.iter().filter_map(|vantage| self.answer(vantage.name())).collect();
        if answers.is_empty() {
            answers.push("No algorithm ran".to_owned());
        }
        let tables = End::ALL
            .iter()
            .flat_map(|vantage| LOSS_RATES.map(|rate| self.table(vantage.name(), rate)));
        let tables: Vec<Table> = tables.collect();
        let mut text: Vec<Part> = answers.iter().cloned().map(Part::Text).collect();
        text.extend(tables.iter().cloned().map(|table| Part::Table(table.title(""))));
        text.push(
            "M_c (paths with 100 congestion losses and no policer) and queue loss beyond always congestion's: mean; worst \
             path. Goodput over the base and the omniscient one, and what a stock competitor keeps: median; lowest path. What \
             always congestion shows with other seeds is chance."
                .into(),
        );
        let csv = csv_file::text(self.runs.iter());
        let page = MapPage {
            title: "paths in the loop".to_owned(),
            answers,
            what: format!(
                "{} paths of seed {}, {}. {DRAWN}; all test flows run the algorithm. M_c counts on paths with \
                 {LEAST_CONGESTION_LOSSES} congestion losses and no policer. What always congestion shows with other seeds is chance.",
                self.paths,
                self.seed,
                match self.runs_per_path {
                    1 => "one run of each".to_owned(),
                    runs => format!("means over {runs} runs of each"),
                }
            ),
            maps: tables.into_iter().map(|table| (table, Vec::new())).collect(),
            csv: csv.clone(),
            csv_name: Self::CSV.to_owned(),
            footnote: footnote(command),
        };
        Shown { text, page, csv }
    }
}

impl InLoop {
    fn answer(&self, vantage: &str) -> Option<String> {
        let of = |rate: f64| {
            self.rows.iter().filter(move |row| {
                row.vantage == vantage && row.loss_rate == rate && row.is_algorithm()
            })
        };
        let cost =
            |row: &&LoopRow| row.queue_loss_points.map_or(f64::INFINITY, |points| points.mean);
        let gain =
            |row: &&LoopRow| row.over_omniscient.map_or(f64::NEG_INFINITY, |ratio| ratio.median);
        let gentle = of(0.0).min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        let fast = of(0.01).max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
        let cost = cost(&gentle);
        let gain = gain(&fast);
        Some(format!(
            "At the {vantage}: without wireless loss, {} adds the least queue loss, {cost:+.2} points on average; with one \
             percent, {} has the highest goodput, {gain:.2} of the omniscient one's.",
            gentle.algorithm, fast.algorithm
        ))
    }

    /// The algorithms at an end and a share of wireless loss, 0 to 1.
    fn table(&self, vantage: &str, rate: f64) -> Table {
        let loss = format!("{:.0} % wireless loss", 100.0 * rate);
        let head = format!("{vantage}, {loss}");
        let heads = [head.as_str()].into_iter().chain(LoopRow::HEADS);
        let mut table = Table::new(heads)
            .numbers(1..)
            .title(format!("At the {vantage}, {loss}"))
            .note(
                "M_c and queue loss beyond the base's: mean, and the worst path. Goodput and what a stock competitor \
                 keeps: median, and the lowest path.",
            );
        let is_own = |row: &&LoopRow| row.vantage == vantage && row.loss_rate == rate;
        for row in self.rows.iter().filter(is_own) {
            let paths = row.over_base.map_or(0, |spread| spread.paths);
            let name = Cell::from(&row.algorithm).tip(format!("on {paths} paths"));
            table.row([name].into_iter().chain(row.cells().map(Cell::from)));
        }
        table
    }
}

impl LoopRow {
    /// The heads of [`LoopRow::cells`].
    pub const HEADS: [&'static str; 5] =
        ["M_c, %", "queue loss, points", "over base", "over omniscient", "competitor"];

    /// The row's values as texts.
    pub fn cells(&self) -> [String; 5] {
        let text = |spread: Option<Spread>, of: &dyn Fn(Spread) -> String| {
            spread.map_or_else(|| "–".to_owned(), of)
        };
        let ratio = |spread: Spread| format!("{:.2}; {:.2}", spread.median, spread.least);
        [
            text(self.m_c, &|spread| {
                format!("{:.1}; {:.1}", 100.0 * spread.mean, 100.0 * spread.most)
            }),
            text(self.queue_loss_points, &|spread| {
                format!("{:+.2}; {:+.2}", spread.mean, spread.most)
            }),
            text(self.over_base, &ratio),
            text(self.over_omniscient, &ratio),
            text(self.competitor_keeps, &ratio),
        ]
    }
}

/// A share to six decimals; nothing for none.
fn in_full(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!("{share:.6}"))
}

/// `35.6 %`.
fn percent(share: Estimate) -> String {
    format!("{:.1} %", share.percent().value)
}

/// `[31.0, 40.2]`, percent.
fn ends(share: Estimate) -> String {
    share.percent().ends(1)
}

/// `35.6 % [31.0, 40.2]`.
fn with_ends(share: Estimate) -> String {
    format!("{} {}", percent(share), ends(share))
}

//! A paper's table or figure as one table, for the terminal and for pages, in the paper's row and
//! column order.

use losscause_laboratory::papers::record::{Item, ItemSpec};
use losscause_laboratory::papers::reproduce::Sheet;
use losscause_study::tools::figures::unit_symbol;
use losscause_study::tools::table::{Cell, Table};

use crate::curves::{Panel, panels};

/// Systems across; `rows` are those of every combination of the parameters each metric. Published
/// values stand below the measured ones. Without any, the parameters have columns of their own.
/// The rows of a figure are its curves. `finish` may add to the cell of an item.
pub fn sheet_table(
    sheet: &Sheet,
    systems: &[&str],
    rows: &[Vec<Item>],
    mut finish: impl FnMut(&Item, Cell) -> Cell,
) -> Table {
    let spec = sheet.spec;
    if spec.x.is_some() {
        return figure(spec, rows, finish);
    }
    let has_published = rows.iter().flatten().any(|item| item.published.is_some());
    let mut of_systems = |row: &[Item], cell: &dyn Fn(&Item) -> Cell| -> Vec<Cell> {
        let item = |system: &&str| row.iter().find(|item| item.system == **system);
        let mut finished = |item: &Item| finish(item, cell(item));
        systems
            .iter()
            .map(|system| item(system).map_or_else(Cell::default, &mut finished))
            .collect()
    };
    if has_published {
        let mut table = Table::new([""].iter().chain(systems).copied()).numbers(1..);
        for row in rows {
            let has_interval = row.iter().any(|item| item.interval().is_some());
            let head = Cell::from(label(spec, row));
            let head = head.below(if has_interval { "± 95 %\npublished" } else { "published" });
            let cells = of_systems(row, &|item| published(item, has_interval));
            table.row([head].into_iter().chain(cells));
        }
        return table;
    }
    let Some(first) = rows.iter().flatten().next() else { return Table::default() };
    let names: Vec<&str> =
        spec.varying(&first.parameters).into_iter().map(|(name, _)| name).collect();
    let labels = 1 + names.len();
    let heads = [""].into_iter().chain(names).chain(systems.iter().copied());
    let mut table = Table::new(heads).labels(labels).numbers(labels..);
    for metric in &spec.metrics {
        let mut name = format!("{metric} {}", unit(rows, metric));
        for row in rows.iter().filter(|row| row.first().is_some_and(|item| item.metric == *metric))
        {
            let at =
                spec.varying(&row[0].parameters).into_iter().map(|(_, value)| value.to_string());
            let head = [std::mem::take(&mut name)].into_iter().chain(at).map(Cell::from);
            table.row(head.chain(of_systems(row, &|item| item.interval_text().into())));
        }
    }
    table
}

/// The curves of a figure, one block per panel.
fn figure(
    spec: &ItemSpec,
    rows: &[Vec<Item>],
    mut finish: impl FnMut(&Item, Cell) -> Cell,
) -> Table {
    let items: Vec<Item> = rows.iter().flatten().cloned().collect();
    let panels = panels(spec, &items);
    let axis = panels.first().map(Panel::places).unwrap_or_default();
    let heads = [String::new(), spec.x.clone().unwrap_or_default()];
    let heads = heads.into_iter().chain(axis.iter().map(ToString::to_string));
    let mut table = Table::new(heads).labels(2).numbers(2..);
    for panel in &panels {
        let at: String = panel.at.values().map(|value| format!(" {value}")).collect();
        let mut name = format!("{}{at} {}", panel.metric, unit_symbol(panel.unit));
        for curve in &panel.curves {
            let head = [std::mem::take(&mut name), curve.label()].map(Cell::from);
            let mut cell = |place: &f64| {
                let point = curve.points.iter().find(|(x, _)| x == place);
                point.map_or_else(Cell::default, |(_, item)| finish(item, measured(item)))
            };
            let cells: Vec<Cell> = axis.iter().map(&mut cell).collect();
            table.row(head.into_iter().chain(cells));
        }
    }
    table
}

/// "M_c, N 4, %".
pub(super) fn label(spec: &ItemSpec, row: &[Item]) -> String {
    let Some(first) = row.first() else { return String::new() };
    let at = spec.varying(&first.parameters).into_iter();
    let at = at.map(|(name, value)| format!("{name} {value}"));
    let unit = Some(unit_symbol(&first.unit).to_owned()).filter(|unit| !unit.is_empty());
    [first.metric.clone()].into_iter().chain(at).chain(unit).collect::<Vec<_>>().join(", ")
}

fn unit<'a>(rows: &'a [Vec<Item>], metric: &str) -> &'a str {
    let item = rows.iter().flatten().find(|item| item.metric == metric);
    item.map_or("", |item| unit_symbol(&item.unit))
}

fn measured(item: &Item) -> Cell {
    Cell::from(item.measured_text()).mark(item.mark())
}

/// A measured value, below it its interval and the published one.
fn published(item: &Item, has_interval: bool) -> Cell {
    let interval = match item.median_ci95 {
        Some(_) => item.ends_text(),
        None => item.ci95_text(),
    };
    let published = item.published_text();
    measured(item).below(if has_interval { format!("{interval}\n{published}") } else { published })
}

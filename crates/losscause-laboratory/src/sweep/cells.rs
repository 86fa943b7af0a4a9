//! The cells of a sweep, each made when it is needed: a sweep of a million cells holds none of
//! them.

use std::collections::{BTreeMap, BTreeSet};

use super::axis::Choice;
use super::sampler::{Points, Sampler};
use super::{AxisValue, Cell, STACK, Sweep};

/// The cells of a sweep.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    sweep: &'a Sweep,
    /// Number of listed values of every axis.
    sizes: Vec<usize>,
    /// The points of a sampler; none of a grid.
    points: Option<Points>,
    count: usize,
}

/// Where a cell is on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// One of the axis's values.
    Listed(usize),
    /// A draw from its range, from [0, 1).
    Drawn(f64),
}

impl<'a> Cells<'a> {
    pub(super) fn of(sweep: &'a Sweep) -> Self {
        let keys = sweep.axes.iter().map(|axis| axis.stream().to_owned()).collect();
        Self {
            sweep,
            sizes: sweep.axes.iter().map(|axis| axis.values.len()).collect(),
            points: Points::new(sweep.sampler, sweep.seed, keys),
            count: sweep.count(),
        }
    }

    /// Number of cells.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The cell of that number, below [`Cells::count`].
    pub(super) fn cell(&self, number: usize) -> Cell {
        let stacks = &self.sweep.stacks;
        let stack = stacks.get(number % stacks.len().max(1));
        let choices: Vec<Choice> = self
            .sweep
            .axes
            .iter()
            .zip(self.places(number))
            .map(|(axis, place)| match place {
                Place::Listed(index) => axis.values[index].clone(),
                Place::Drawn(uniform) => axis.draw(uniform),
            })
            .collect();
        let mut only: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (scenario, settings) in choices.iter().flat_map(|choice| &choice.only) {
            only.entry(scenario.clone()).or_default().extend_from_slice(settings);
        }
        let value = |(axis, choice): (&super::Axis, &Choice)| AxisValue {
            axis: axis.name.clone(),
            value: choice.name.clone(),
        };
        Cell {
            number,
            values: self
                .sweep
                .axes
                .iter()
                .zip(&choices)
                .map(value)
                .chain(stack.map(|stack| AxisValue {
                    axis: STACK.to_owned(),
                    value: stack.name.to_owned(),
                }))
                .collect(),
            settings: choices.iter().flat_map(|choice| choice.set.iter().cloned()).collect(),
            only,
            metrics: choices.iter().flat_map(|choice| choice.metrics.clone()).collect(),
            runs: choices.iter().find_map(|choice| choice.runs),
        }
    }

    /// Where the cell of that number is, axis by axis.
    fn places(&self, number: usize) -> Vec<Place> {
        let number = number / self.sweep.stacks.len().max(1);
        if let Sampler::Listed { .. } = self.sweep.sampler {
            return vec![Place::Listed(number); self.sizes.len()];
        }
        let Some(points) = &self.points else {
            return self
                .sweep
                .mode
                .cell(&self.sizes, number)
                .into_iter()
                .map(Place::Listed)
                .collect();
        };
        let place = |(axis, uniform): (&super::Axis, f64)| match axis.range {
            Some(_) => Place::Drawn(uniform),
            None => Place::Listed(axis.listed(uniform)),
        };
        self.sweep.axes.iter().zip(points.point(number)).map(place).collect()
    }

    /// The numbers of the cells that are checked before the first run, rising: all, up to `most`.
    /// Of more, `most` at equal distances; the first with each listed value; and the outermost:
    /// those with every axis at its first or last value, or, if they are drawn, the two that are
    /// furthest out on each axis.
    pub(super) fn to_check(&self, most: usize) -> BTreeSet<usize> {
        if self.count <= most {
            return (0..self.count).collect();
        }
        let mut checked: BTreeSet<usize> =
            (0..most).map(|k| k * (self.count - 1) / (most - 1)).collect();
        let mut values: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut corners: Vec<usize> = Vec::new();
        let mut ends: Vec<Option<[(f64, usize); 2]>> = vec![None; self.sizes.len()];
        for number in 0..self.count {
            let places = self.places(number);
            let mut is_corner = true;
            for (axis, place) in places.into_iter().enumerate() {
                match place {
                    Place::Listed(index) => {
                        is_corner &= index == 0 || index + 1 == self.sizes[axis];
                        let is_written = self.sweep.axes[axis].range.is_none();
                        if is_written && values.insert((axis, index)) {
                            checked.insert(number);
                        }
                    }
                    Place::Drawn(at) => {
                        is_corner = false;
                        let [least, greatest] = ends[axis].get_or_insert([(at, number); 2]);
                        if at < least.0 {
                            *least = (at, number);
                        }
                        if at > greatest.0 {
                            *greatest = (at, number);
                        }
                    }
                }
            }
            if is_corner {
                corners.push(number);
            }
        }
        // Many axes have more corners than can be checked.
        checked.extend(corners.iter().step_by(corners.len().div_ceil(most).max(1)));
        checked.extend(ends.into_iter().flatten().flatten().map(|(_, number)| number));
        checked
    }
}

//! How the axes of a sweep are combined into cells.

use std::ops::Range;

use serde::Deserialize;

/// How the axes are combined into cells. The first value of an axis is its base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    /// Every combination of values.
    #[default]
    Grid,
    /// All axes at their base, then each other value alone.
    OneAtATime,
    /// One at a time, then every two axes together off their base.
    Pairwise,
}

impl Mode {
    /// The number of cells; none if it overflows.
    pub(super) fn count(self, sizes: &[usize]) -> Option<usize> {
        if self == Mode::Grid {
            return sizes.iter().try_fold(1_usize, |cells, &size| cells.checked_mul(size));
        }
        let off = |size: usize| size.saturating_sub(1);
        let alone: usize = sizes.iter().copied().map(off).sum();
        let same_axis: usize = sizes.iter().map(|&size| off(size) * off(size)).sum();
        let pairs = if self == Mode::Pairwise { (alone.checked_mul(alone)? - same_axis) / 2 } else { 0 };
        pairs.checked_add(alone + 1)
    }

    /// The cells of these numbers, each the index of one value per axis; `sizes` holds the number of values per axis. The
    /// cell of all bases comes first.
    pub(super) fn cells(self, sizes: &[usize], numbers: Range<usize>) -> Vec<Vec<usize>> {
        if self == Mode::Grid {
            return numbers.map(|number| of_grid(sizes, number)).collect();
        }
        let mut cells = self.off_the_base(sizes);
        cells.truncate(numbers.end);
        cells.split_off(numbers.start.min(cells.len()))
    }

    /// All cells of a mode other than the grid.
    fn off_the_base(self, sizes: &[usize]) -> Vec<Vec<usize>> {
        let base = vec![0; sizes.len()];
        let off = |changes: &[(usize, usize)]| {
            let mut cell = base.clone();
            changes.iter().for_each(|&(axis, value)| cell[axis] = value);
            cell
        };
        let changes: Vec<(usize, usize)> =
            sizes.iter().enumerate().flat_map(|(axis, &size)| (1..size).map(move |value| (axis, value))).collect();
        let mut cells = vec![base.clone()];
        cells.extend(changes.iter().map(|&change| off(&[change])));
        if self == Mode::Pairwise {
            for (i, &first) in changes.iter().enumerate() {
                let others = changes[i + 1..].iter().filter(|second| second.0 != first.0);
                cells.extend(others.map(|&second| off(&[first, second])));
            }
        }
        cells
    }
}

/// The cell of a grid: the digits of its number, the last axis's changing first.
fn of_grid(sizes: &[usize], number: usize) -> Vec<usize> {
    let mut rest = number;
    let mut cell: Vec<usize> = sizes
        .iter()
        .rev()
        .map(|size| {
            let digit = rest % size;
            rest /= size;
            digit
        })
        .collect();
    cell.reverse();
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mode: Mode, sizes: &[usize]) -> Vec<Vec<usize>> {
        mode.cells(sizes, 0..mode.count(sizes).unwrap())
    }

    #[test]
    fn some_cells_are_those_of_the_same_numbers_among_all() {
        for mode in [Mode::Grid, Mode::OneAtATime, Mode::Pairwise] {
            assert_eq!(mode.cells(&[3, 2, 4], 2..5), all(mode, &[3, 2, 4])[2..5], "{mode:?}");
        }
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let cells = all(Mode::Grid, &[2, 3]);
        assert_eq!(cells, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }

    #[test]
    fn cells_are_counted_before_they_are_made() {
        for mode in [Mode::Grid, Mode::OneAtATime, Mode::Pairwise] {
            for sizes in [&[2, 3][..], &[2, 3, 1], &[4, 2, 5], &[1]] {
                assert_eq!(mode.count(sizes), Some(all(mode, sizes).len()), "{mode:?} {sizes:?}");
            }
        }
        assert_eq!(Mode::Grid.count(&[2; 64]), None);
    }

    #[test]
    fn one_at_a_time_leaves_every_other_axis_at_its_base() {
        let cells = all(Mode::OneAtATime, &[2, 3, 1]);
        assert_eq!(cells, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 2, 0]]);
    }

    #[test]
    fn pairwise_adds_every_two_changes_of_different_axes() {
        let cells = all(Mode::Pairwise, &[2, 3]);
        assert_eq!(cells, [[0, 0], [1, 0], [0, 1], [0, 2], [1, 1], [1, 2]]);
    }
}

//! How the axes of a sweep are combined into cells.

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
        let alone = changes(sizes);
        let same_axis: usize = sizes.iter().map(|&size| changes(&[size]).pow(2)).sum();
        let pairs =
            if self == Mode::Pairwise { (alone.checked_mul(alone)? - same_axis) / 2 } else { 0 };
        pairs.checked_add(alone + 1)
    }

    /// The cell of that number, below [`Mode::count`]: the index of one value per axis, of which
    /// `sizes` holds the number of values. The cell of all bases comes first.
    pub(super) fn cell(self, sizes: &[usize], number: usize) -> Vec<usize> {
        if self == Mode::Grid {
            return of_grid(sizes, number);
        }
        let mut cell = vec![0; sizes.len()];
        let Some(place) = number.checked_sub(1) else { return cell };
        if let Some((axis, value)) = change(sizes, place) {
            cell[axis] = value;
            return cell;
        }
        // Every change is followed by its pairs with those of later axes.
        let mut rest = place - changes(sizes);
        for (axis, &size) in sizes.iter().enumerate() {
            let later = &sizes[axis + 1..];
            let pairs = changes(&[size]) * changes(later);
            if rest < pairs {
                cell[axis] = 1 + rest / changes(later);
                if let Some((other, value)) = change(later, rest % changes(later)) {
                    cell[axis + 1 + other] = value;
                }
                break;
            }
            rest -= pairs;
        }
        cell
    }
}

/// Number of changes: of all values off the base.
fn changes(sizes: &[usize]) -> usize {
    sizes.iter().map(|size| size.saturating_sub(1)).sum()
}

/// The axis and the value of the change of that number.
fn change(sizes: &[usize], number: usize) -> Option<(usize, usize)> {
    let mut rest = number;
    for (axis, &size) in sizes.iter().enumerate() {
        if rest < changes(&[size]) {
            return Some((axis, rest + 1));
        }
        rest -= changes(&[size]);
    }
    None
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
        (0..mode.count(sizes).unwrap()).map(|number| mode.cell(sizes, number)).collect()
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let cells = all(Mode::Grid, &[2, 3]);
        assert_eq!(cells, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }

    #[test]
    fn as_many_different_cells_are_made_as_are_counted() {
        for mode in [Mode::Grid, Mode::OneAtATime, Mode::Pairwise] {
            for sizes in [&[2, 3][..], &[2, 3, 1], &[4, 2, 5], &[1]] {
                let cells: std::collections::BTreeSet<_> = all(mode, sizes).into_iter().collect();
                assert_eq!(mode.count(sizes), Some(cells.len()), "{mode:?} {sizes:?}: all differ");
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
        let pairs = all(Mode::Pairwise, &[2, 3, 1, 2])[5..].to_vec();
        assert_eq!(pairs, [[1, 1, 0, 0], [1, 2, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 2, 0, 1]]);
    }
}

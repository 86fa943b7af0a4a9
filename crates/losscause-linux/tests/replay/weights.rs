//! The weights of Sift's programs against those of the reference.

use losscause::lda::sift::card::{LIMITS, TOGETHER};
use losscause::lda::sift::{Clues, SENDER};

/// `bpf/lda/sift_weights.h`.
const HEADER: &str = include_str!("../../bpf/lda/sift_weights.h");

/// The words and numbers of what follows `name` in the header, up to `end`.
fn words(name: &str, end: char) -> Vec<&'static str> {
    let (_, after) = HEADER.split_once(name).unwrap();
    let (definition, _) = after.split_once(end).unwrap();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    definition.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect()
}

fn numbers<T: Into<i64>>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.into().to_string()).collect()
}

#[test]
fn the_weights_in_the_header_are_those_of_a_sender() {
    let names = words("enum lc_clue {", '}');
    assert_eq!(names.len(), Clues::COUNT + 1, "{names:?}");
    for (name, says) in names.iter().zip(Clues::NAMES) {
        let (reading, _) = says.split_once(':').unwrap();
        assert_eq!(*name, format!("LC_{}", reading.to_uppercase().replace(' ', "_")));
    }
    assert_eq!(words("LC_SIFT_START", '\n'), numbers([SENDER.start]));
    assert_eq!(
        words("lc_sift_limits[LC_CLUES][LC_INTERVALS - 1] =", ';'),
        numbers(LIMITS.as_flattened().to_vec())
    );
    assert_eq!(
        words("lc_sift_single[LC_CLUES][LC_INTERVALS] =", ';'),
        numbers(SENDER.single.as_flattened().to_vec())
    );
    let together = TOGETHER.map(|clues| clues.map(|clue| names[clue]));
    assert_eq!(words("lc_sift_together[LC_TABLES][3] =", ';'), together.as_flattened());
    let tables =
        "lc_sift_tables[LC_TABLES][LC_INTERVALS / 2][LC_INTERVALS / 2][LC_INTERVALS / 2] =";
    assert_eq!(
        words(tables, ';'),
        numbers(SENDER.tables.as_flattened().as_flattened().as_flattened().to_vec())
    );
}

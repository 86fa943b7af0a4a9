//! Numbers as text for people.

/// A value to the digits that its interval leaves: two significant digits of the interval.
pub fn to_the_digits_of(value: f64, ci95: Option<f64>) -> String {
    match ci95 {
        Some(ci95) if ci95 > 0.0 => {
            format!("{value:.*}", (1.0 - ci95.log10()).ceil().clamp(0.0, 6.0) as usize)
        }
        _ => number(Some(value)),
    }
}

/// "± 1.2", empty for none.
pub fn plus_minus(ci95: Option<f64>) -> String {
    ci95.map_or_else(String::new, |ci95| format!("± {}", to_the_digits_of(ci95, Some(ci95))))
}

/// "12.3 ± 0.4": a mean to two digits of its interval, alone if it has none.
pub fn estimate(mean: f64, ci95: Option<f64>) -> String {
    format!("{} {}", to_the_digits_of(mean, ci95), plus_minus(ci95)).trim_end().to_owned()
}

/// At most three decimals, a dash for none.
pub fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        Some(value) if value.abs() >= 100.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.3}"),
    }
}

/// A count, a dash for none.
pub fn count(count: Option<u64>) -> String {
    count.map_or_else(|| number(None), |count| count.to_string())
}

/// The seeds of so many runs from the first one on: "seed 7", "seeds 7 to 9".
pub fn seeds(first: u64, runs: u32) -> String {
    match runs {
        1 => format!("seed {first}"),
        _ => format!("seeds {first} to {}", first.wrapping_add(u64::from(runs) - 1)),
    }
}

/// A unit in parentheses behind a blank; nothing for pure numbers.
pub fn in_parentheses(unit: &str) -> String {
    match unit_symbol(unit) {
        "" => String::new(),
        unit => format!(" ({unit})"),
    }
}

/// A share, 0 to 1, in percent to what people can tell apart: "0.17 %", "1.2 %", "38 %".
pub fn share_text(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = match percent.abs() {
        large if large >= 10.0 => 0,
        middle if middle >= 1.0 => 1,
        _ => 2,
    };
    format!("{percent:.decimals$} %")
}

/// A unit as it stands behind a number: "%" for "percent", nothing for pure numbers.
pub fn unit_symbol(unit: &str) -> &str {
    match unit {
        "percent" => "%",
        "1" | "count" => "",
        unit => unit,
    }
}

/// The words as a sentence: a capital first letter, a full stop at the end.
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let rest: String = first.chain(letters).collect();
    if rest.ends_with('.') { rest } else { format!("{rest}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_digits_that_its_interval_leaves() {
        let texts = [(2853.4, 86.2), (40.5522, 0.0017), (9.4, 2.0)]
            .map(|(value, ci95)| estimate(value, Some(ci95)));
        assert_eq!(texts, ["2853 ± 86", "40.5522 ± 0.0017", "9.4 ± 2.0"]);
        assert_eq!(
            [None, Some(3.0), Some(0.25), Some(1234.56)].map(number),
            ["–", "3", "0.250", "1234.6"]
        );
        assert_eq!(plus_minus(None), "");
        assert_eq!([seeds(7, 1), seeds(7, 3)], ["seed 7", "seeds 7 to 9"]);
        assert_eq!(
            [0.00174868, 0.012, 0.384, 1.0].map(share_text),
            ["0.17 %", "1.2 %", "38 %", "100 %"]
        );
    }
}

//! Quantities for people, with three digits at most.

/// Bits per second: "940 kb/s", "1.5 Mb/s".
pub(crate) fn rate(bps: f64) -> String {
    scaled(bps, &["b/s", "kb/s", "Mb/s", "Gb/s"])
}

/// Bytes: "740 kB".
pub(crate) fn bytes(bytes: u64) -> String {
    scaled(bytes as f64, &["bytes", "kB", "MB", "GB", "TB"])
}

/// Milliseconds: "0.21 ms", "43 ms".
pub(crate) fn ms(ms: f64) -> String {
    format!("{} ms", digits(ms))
}

fn scaled(value: f64, units: &[&str]) -> String {
    let steps =
        (0..units.len() - 1).take_while(|&step| value >= 999.5 * 1e3_f64.powi(step as i32)).count();
    format!("{} {}", digits(value / 1e3_f64.powi(steps as i32)), units[steps])
}

fn digits(value: f64) -> String {
    match value {
        ..0.995 => format!("{value:.2}"),
        ..9.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
    .trim_end_matches(".0")
    .replace("0.00", "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_unit_that_makes_them_short() {
        assert_eq!(
            [0.0, 999.0, 999_600.0, 1.5e6, 2e6].map(rate),
            ["0 b/s", "999 b/s", "1 Mb/s", "1.5 Mb/s", "2 Mb/s"]
        );
        assert_eq!([3, 739_965, 1 << 50].map(bytes), ["3 bytes", "740 kB", "1126 TB"]);
        assert_eq!([0.214, 9.96, 43.0].map(ms), ["0.21 ms", "10 ms", "43 ms"]);
    }
}

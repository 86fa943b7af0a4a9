//! A number with its dimension, and the units that a formula and a key may have.

use crate::error::nearest;

/// What a number counts: powers of bits, seconds and packets. A plain number has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dimension {
    bits: i32,
    seconds: i32,
    packets: i32,
}

const PLAIN: Dimension = Dimension { bits: 0, seconds: 0, packets: 0 };
const TIME: Dimension = Dimension { seconds: 1, ..PLAIN };
const DATA: Dimension = Dimension { bits: 1, ..PLAIN };
const RATE: Dimension = Dimension { bits: 1, seconds: -1, ..PLAIN };
const PACKETS: Dimension = Dimension { packets: 1, ..PLAIN };

impl Dimension {
    pub(super) fn is_plain(self) -> bool {
        self == PLAIN
    }

    /// The dimension of a product (`sign` 1) or a quotient (-1).
    fn combined(self, other: Self, sign: i32) -> Self {
        let power = |own: i32, other: i32| own.saturating_add(other.saturating_mul(sign));
        Self {
            bits: power(self.bits, other.bits),
            seconds: power(self.seconds, other.seconds),
            packets: power(self.packets, other.packets),
        }
    }

    /// "a time", for errors.
    pub(super) fn article(self) -> &'static str {
        match self {
            PLAIN => "a plain number",
            TIME => "a time",
            DATA => "an amount of data",
            RATE => "a rate",
            PACKETS => "a number of packets",
            _ => "neither a time, a rate nor a size",
        }
    }
}

/// A number in bits, seconds and packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amount {
    pub(super) number: f64,
    pub(super) dimension: Dimension,
}

impl Amount {
    /// A number without a unit.
    pub(super) fn plain(number: f64) -> Self {
        Self { number, dimension: PLAIN }
    }

    /// `number` of these units.
    pub(super) fn of(number: f64, unit: &Unit) -> Self {
        Self { number: number * unit.times / unit.over, dimension: unit.dimension }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            number: self.number * other.number,
            dimension: self.dimension.combined(other.dimension, 1),
        }
    }

    pub(super) fn over(self, other: Self) -> Self {
        Self {
            number: self.number / other.number,
            dimension: self.dimension.combined(other.dimension, -1),
        }
    }

    /// The number in `unit`. A plain number counts such units already.
    ///
    /// # Errors
    /// The dimensions differ. The text is the second half of an error sentence.
    pub(crate) fn in_unit(self, unit: &Unit) -> Result<f64, String> {
        if self.dimension.is_plain() {
            return Ok(self.number);
        }
        if self.dimension == unit.dimension {
            return Ok(self.number * unit.over / unit.times);
        }
        let expected = match unit.dimension {
            PLAIN => "a plain number",
            TIME => "a time, such as 40 ms",
            DATA => "a size, such as 1500 B",
            RATE => "a rate, such as 20 Mb/s",
            _ => "a number of packets",
        };
        let plain = if unit.dimension.is_plain() {
            String::new()
        } else {
            format!(", or a plain number of {}", unit.name)
        };
        Err(format!("is {}, expected {expected}{plain}", self.dimension.article()))
    }

    pub(super) fn is_finite(self) -> bool {
        self.number.is_finite()
    }

    /// The unit of a number of this kind that is written without one.
    pub(crate) fn base_unit(self) -> &'static Unit {
        match self.dimension {
            TIME => &SECONDS,
            RATE => &BPS,
            DATA => &BYTES,
            PACKETS => &PKTS,
            _ => &NONE,
        }
    }

    /// "a time", for errors.
    pub(crate) fn kind(self) -> &'static str {
        self.dimension.article()
    }

    /// Whether the amount has a unit.
    pub(crate) fn has_unit(self) -> bool {
        !self.dimension.is_plain()
    }
}

/// A unit of a number, or of a key.
#[derive(Debug, PartialEq)]
pub(crate) struct Unit {
    /// As it is written behind a number.
    pub(crate) name: &'static str,
    dimension: Dimension,
    /// One of it is `times / over` bits, seconds or packets. Both are whole.
    times: f64,
    over: f64,
}

const fn unit(name: &'static str, dimension: Dimension, times: f64, over: f64) -> Unit {
    Unit { name, dimension, times, over }
}

/// No unit.
const NONE: Unit = unit("", PLAIN, 1.0, 1.0);
const SECONDS: Unit = unit("s", TIME, 1.0, 1.0);
const MILLIS: Unit = unit("ms", TIME, 1.0, 1e3);
const MICROS: Unit = unit("us", TIME, 1.0, 1e6);
const BPS: Unit = unit("b/s", RATE, 1.0, 1.0);
const KBPS: Unit = unit("kb/s", RATE, 1e3, 1.0);
const MBPS: Unit = unit("Mb/s", RATE, 1e6, 1.0);
const BYTES: Unit = unit("B", DATA, 8.0, 1.0);
const PKTS: Unit = unit("packets", PACKETS, 1.0, 1.0);

/// What may follow a number.
static UNITS: [Unit; 51] = [
    unit("%", PLAIN, 1.0, 100.0),
    unit("k", PLAIN, 1e3, 1.0),
    unit("M", PLAIN, 1e6, 1.0),
    unit("G", PLAIN, 1e9, 1.0),
    BPS,
    KBPS,
    MBPS,
    unit("Gb/s", RATE, 1e9, 1.0),
    unit("bit/s", RATE, 1.0, 1.0),
    unit("kbit/s", RATE, 1e3, 1.0),
    unit("Mbit/s", RATE, 1e6, 1.0),
    unit("Gbit/s", RATE, 1e9, 1.0),
    unit("bps", RATE, 1.0, 1.0),
    unit("kbps", RATE, 1e3, 1.0),
    unit("Kbps", RATE, 1e3, 1.0),
    unit("Mbps", RATE, 1e6, 1.0),
    unit("mbps", RATE, 1e6, 1.0),
    unit("Gbps", RATE, 1e9, 1.0),
    unit("gbps", RATE, 1e9, 1.0),
    // As tc has them: rates.
    unit("bit", RATE, 1.0, 1.0),
    unit("kbit", RATE, 1e3, 1.0),
    unit("Mbit", RATE, 1e6, 1.0),
    unit("mbit", RATE, 1e6, 1.0),
    unit("Gbit", RATE, 1e9, 1.0),
    unit("gbit", RATE, 1e9, 1.0),
    unit("B/s", RATE, 8.0, 1.0),
    unit("kB/s", RATE, 8e3, 1.0),
    unit("MB/s", RATE, 8e6, 1.0),
    unit("GB/s", RATE, 8e9, 1.0),
    unit("ns", TIME, 1.0, 1e9),
    MICROS,
    unit("µs", TIME, 1.0, 1e6),
    MILLIS,
    SECONDS,
    unit("min", TIME, 60.0, 1.0),
    unit("h", TIME, 3600.0, 1.0),
    BYTES,
    unit("kB", DATA, 8e3, 1.0),
    unit("KB", DATA, 8e3, 1.0),
    unit("MB", DATA, 8e6, 1.0),
    unit("GB", DATA, 8e9, 1.0),
    unit("KiB", DATA, 8192.0, 1.0),
    unit("MiB", DATA, 8_388_608.0, 1.0),
    unit("byte", DATA, 8.0, 1.0),
    unit("bytes", DATA, 8.0, 1.0),
    unit("sec", TIME, 1.0, 1.0),
    unit("msec", TIME, 1.0, 1e3),
    unit("pkt", PACKETS, 1.0, 1.0),
    unit("pkts", PACKETS, 1.0, 1.0),
    unit("packet", PACKETS, 1.0, 1.0),
    PKTS,
];

/// The suffixes of keys, and the units that they give.
const SUFFIXES: [(&str, &Unit); 9] = [
    ("_s", &SECONDS),
    ("_ms", &MILLIS),
    ("_us", &MICROS),
    ("_bps", &BPS),
    ("_kbps", &KBPS),
    ("_mbps", &MBPS),
    ("_bytes", &BYTES),
    ("_packets", &PKTS),
    ("_pkts", &PKTS),
];

impl Unit {
    pub(crate) const SECONDS: &Self = &SECONDS;
    pub(crate) const MILLIS: &Self = &MILLIS;
    pub(crate) const BPS: &Self = &BPS;

    /// The unit that is written so behind a number.
    ///
    /// # Errors
    /// There is none. The text is the second half of an error sentence.
    pub(crate) fn named(name: &str) -> Result<&'static Self, String> {
        UNITS.iter().find(|unit| unit.name == name).ok_or_else(|| {
            let hint = nearest(name, UNITS.iter().map(|unit| unit.name))
                .map(|near| format!(" (did you mean \"{near}\"?)"))
                .unwrap_or_default();
            format!(
                "the unit \"{name}\" is unknown{hint}, expected one as in 20 Mb/s, 600 ms, 1500 B, 0.5 %"
            )
        })
    }

    /// The unit of the numbers of a key: that of its suffix.
    pub(crate) fn of_key(key: &str) -> &'static Self {
        // "per_s" is the unit's reciprocal.
        if key.ends_with("_per_s") {
            &NONE
        } else {
            Self::split(key).map_or(&NONE, |(_, unit)| unit)
        }
    }

    /// A name without the suffix that gives its unit, and that unit.
    pub(crate) fn split(name: &str) -> Option<(&str, &'static Self)> {
        SUFFIXES.iter().find_map(|(suffix, unit)| Some((name.strip_suffix(suffix)?, *unit)))
    }

    /// The unit, if it is one of its kind, that a bare k, M or G stands for: `20M` of a rate.
    pub(crate) fn of_prefix(&self) -> Option<&'static str> {
        match self.dimension {
            RATE => Some("b/s"),
            DATA => Some("B"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_per_second_takes_no_time() {
        let units = ["rate_per_s", "after_s", "rate_bps", "rate"].map(|key| Unit::of_key(key).name);
        assert_eq!(units, ["", "s", "b/s", ""]);
    }
}

//! How far to trust an algorithm in a flow's situation, and which one to recommend: by the accuracy
//! table.
//!
//! `cargo xtask capture-accuracy` writes the table (`accuracy.csv` beside this file) from captures
//! of simulated networks, where the cause of every loss is known. A situation is what a capture
//! itself tells about a flow. Where the table has no row for a situation, the nearest wider one
//! holds.
//!
//! ```
//! use losscause_capture::judge::DelayShape;
//! use losscause_capture::judge::trust::{Expected, Row, Share, Situation, Table};
//! use losscause_capture::{Protocol, Vantage};
//!
//! let at_receiver = Situation {
//!     judged_at: Vantage::Receiver,
//!     protocol: Protocol::Rtp,
//!     selective: false,
//!     delays: DelayShape::Varying,
//! };
//! let Some(Expected { m_c: Some(Share { least, mean, most, .. }), .. }) =
//!     Table::built_in().expected(at_receiver, "zbs")
//! else {
//!     panic!("it was measured");
//! };
//! assert!(least <= mean && mean <= most);
//! // Where the table has no such row, a wider one holds.
//! let rows: Vec<Row> = at_receiver.rows();
//! assert_eq!(rows[0].to_string(), "receiver,rtp,any,varying");
//! assert_eq!(rows[2].to_string(), "receiver,any,any,any");
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use losscause::Verdict;
use serde::Serialize;

use super::DelayShape;
use crate::flow::{Protocol, Vantage};

/// What a capture tells about a flow that decides how well the algorithms do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Situation {
    /// Whose view the algorithms have: the sender's or the receiver's.
    pub judged_at: Vantage,
    /// What carries the flow.
    pub protocol: Protocol,
    /// Whether acknowledgements name ranges: SACK, QUIC.
    pub selective: bool,
    /// What the delays look like.
    pub delays: DelayShape,
}

/// A situation of the table; none in the place of what makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    judged_at: Vantage,
    protocol: Option<Protocol>,
    selective: Option<bool>,
    delays: Option<DelayShape>,
}

/// The errors of an algorithm that are to be expected, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Expected {
    /// M_c: congestion losses that it calls wireless.
    pub m_c: Option<Share>,
    /// M_w: wireless losses that it does not call wireless.
    pub m_w: Option<Share>,
}

/// A share of losses, in percent, over the simulated networks that are of a situation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The mean over the networks.
    pub mean: f64,
    /// In the network where it is least.
    pub least: f64,
    /// In the network where it is greatest.
    pub most: f64,
    /// Networks.
    pub networks: u32,
}

impl Situation {
    /// The situation of a flow of which nothing else is known.
    pub(crate) fn unknown(judged_at: Vantage, protocol: Protocol) -> Self {
        Self { judged_at, protocol, selective: false, delays: DelayShape::Unknown }
    }

    /// The rows that hold for it, the nearest first. What arrives at a receiver is the same with
    /// and without SACK.
    pub fn rows(self) -> Vec<Row> {
        let Self { judged_at, protocol, selective, delays } = self;
        let selective = (judged_at == Vantage::Sender).then_some(selective);
        let row = |protocol, selective, delays| Row { judged_at, protocol, selective, delays };
        let mut rows = vec![
            row(Some(protocol), selective, Some(delays)),
            row(Some(protocol), selective, None),
            row(Some(protocol), None, None),
            row(None, None, None),
        ];
        rows.dedup();
        rows
    }
}

impl fmt::Display for Situation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match (self.protocol, self.judged_at, self.selective) {
            (Protocol::Tcp, Vantage::Sender, true) => "TCP with SACK",
            (Protocol::Tcp, Vantage::Sender, false) => "TCP without SACK",
            (protocol, ..) => protocol.name(),
        };
        let delays = match self.delays {
            DelayShape::Unknown => "without known delays",
            DelayShape::Steady => "with steady delays",
            DelayShape::Varying => "with varying delays",
        };
        write!(f, "{protocol} {delays}, judged at the {}", self.judged_at)
    }
}

/// The columns of a row, as in the file.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = self.protocol.map_or("any", protocol_name);
        let sack = self.selective.map_or("any", |selective| if selective { "yes" } else { "no" });
        write!(
            f,
            "{},{protocol},{sack},{}",
            self.judged_at,
            self.delays.map_or("any", DelayShape::name)
        )
    }
}

fn protocol_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "tcp",
        Protocol::Rtp => "rtp",
        Protocol::Quic => "quic",
        Protocol::WireGuard => "wireguard",
        Protocol::Esp => "esp",
        Protocol::Srt => "srt",
    }
}

impl Expected {
    /// What an algorithm is chosen by: the mean of both errors, percent; none if one of them is not
    /// known.
    pub fn error(&self) -> Option<f64> {
        Some((self.m_c?.mean + self.m_w?.mean) / 2.0)
    }

    /// Whether the algorithm is known to fail: it tells no more than a coin does.
    pub fn fails(&self) -> bool {
        self.error().is_some_and(|error| error >= A_COIN)
    }

    /// Whether this verdict of it is known to fail: at least half of the losses of the other kind
    /// get it too.
    pub fn fails_at(&self, verdict: Verdict) -> bool {
        let wrong = match verdict {
            Verdict::Wireless => self.m_c,
            Verdict::Congestion => self.m_w,
            Verdict::Undecided => None,
        };
        wrong.is_some_and(|share| share.mean >= A_COIN)
    }
}

/// What is wrong so often, percent, tells no more than a coin does.
const A_COIN: f64 = 50.0;

/// The accuracy table: what to expect of each algorithm in each situation.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// By the row's columns.
    rows: BTreeMap<String, BTreeMap<String, Expected>>,
}

impl Table {
    /// The file's columns.
    pub const COLUMNS: &str = "judged_at,protocol,sack,delays,algorithm,\
        m_c,m_c_least,m_c_most,m_c_networks,m_w,m_w_least,m_w_most,m_w_networks";

    /// The table of this version.
    pub fn built_in() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Self::parse(include_str!("accuracy.csv")).unwrap_or_default())
    }

    /// Reads a table. Lines that begin with `#` are comments.
    ///
    /// # Errors
    /// The first line that is no row.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        if lines.next() != Some(Self::COLUMNS) {
            return Err(format!("the first line does not name the columns {}", Self::COLUMNS));
        }
        let mut table = Self::default();
        for line in lines {
            table.add(line).ok_or_else(|| format!("this is no row of the table: {line}"))?;
        }
        Ok(table)
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let cells: Vec<&str> = line.split(',').collect();
        let (row, [algorithm, errors @ ..]) = cells.split_at_checked(4)? else { return None };
        let [m_c, m_w] = [errors.get(..4)?, errors.get(4..)?];
        let expected = Expected { m_c: share(m_c)?, m_w: share(m_w)? };
        self.rows.entry(row.join(",")).or_default().insert((*algorithm).to_owned(), expected);
        Some(())
    }

    /// What to expect of an algorithm; none if the table does not have it.
    pub fn expected(&self, situation: Situation, algorithm: &str) -> Option<Expected> {
        situation
            .rows()
            .iter()
            .find_map(|row| self.rows.get(&row.to_string())?.get(algorithm).copied())
    }

    /// What to expect of each of these algorithms.
    pub fn expected_of<'a>(
        &self,
        situation: Situation,
        algorithms: impl Iterator<Item = &'a str>,
    ) -> BTreeMap<String, Expected> {
        algorithms
            .filter_map(|name| Some((name.to_owned(), self.expected(situation, name)?)))
            .collect()
    }

    /// The algorithm with the least error among those that can judge the flow. If the table cannot
    /// tell some of them apart, the wider situations decide. One that is not in the table comes
    /// last.
    pub fn recommend<'a>(
        &self,
        situation: Situation,
        usable: impl Iterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let mut left: Vec<&str> = usable.collect();
        for row in situation.rows() {
            let errors = self.rows.get(&row.to_string());
            let error = |name: &str| errors.and_then(|errors| errors.get(name)?.error());
            let Some(least) = left.iter().filter_map(|name| error(name)).min_by(f64::total_cmp)
            else {
                continue;
            };
            left.retain(|name| error(name).is_some_and(|error| error < least + TIE));
        }
        left.first().copied()
    }
}

/// Mean errors that differ by less, percent, are taken for equal: over other runs their order may
/// change.
const TIE: f64 = 2.0;

/// Four cells, all empty if the error is not known.
fn share(cells: &[&str]) -> Option<Option<Share>> {
    let [mean, least, most, networks] = cells else { return None };
    if networks.is_empty() {
        return Some(None);
    }
    let [mean, least, most] = [mean.parse().ok()?, least.parse().ok()?, most.parse().ok()?];
    Some(Some(Share { mean, least, most, networks: networks.parse().ok()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# made by hand\n\
        judged_at,protocol,sack,delays,algorithm,m_c,m_c_least,m_c_most,m_c_networks,m_w,m_w_least,m_w_most,m_w_networks\n\
        sender,tcp,yes,steady,spike,80,70,90,2,4,3,5,2\n\
        sender,tcp,yes,steady,zigzag,10,5,15,2,60,50,70,2\n\
        sender,tcp,yes,any,spike,20,0,90,4,10,3,20,4\n\
        sender,tcp,yes,any,zigzag,5,0,15,4,80,50,90,4\n\
        receiver,any,any,any,spike,1,1,1,1,,,,\n";

    fn situation(judged_at: Vantage, delays: DelayShape) -> Situation {
        Situation { judged_at, protocol: Protocol::Tcp, selective: true, delays }
    }

    #[test]
    fn the_algorithm_with_the_least_mean_error_is_recommended() {
        let table = Table::parse(TEXT).unwrap();
        let recommend = |delays| {
            table.recommend(situation(Vantage::Sender, delays), ["spike", "zigzag"].into_iter())
        };
        // (80 + 4) / 2 = 42 against (10 + 60) / 2 = 35.
        assert_eq!(recommend(DelayShape::Steady), Some("zigzag"));
        // No row: the next wider one, (20 + 10) / 2 = 15 against 42.5.
        assert_eq!(recommend(DelayShape::Varying), Some("spike"));
    }

    #[test]
    fn a_difference_below_two_points_goes_to_the_wider_situation() {
        // 42 against (10 + 71) / 2 = 40.5, and in the wider row 15 against 42.5.
        let table = Table::parse(&TEXT.replace("60,50,70,2", "71,50,80,2")).unwrap();
        let here = situation(Vantage::Sender, DelayShape::Steady);
        assert_eq!(table.recommend(here, ["zigzag", "spike"].into_iter()), Some("spike"));
    }

    #[test]
    fn what_the_table_does_not_know_comes_last() {
        let table = Table::parse(TEXT).unwrap();
        let here = situation(Vantage::Receiver, DelayShape::Steady);
        assert_eq!(table.expected(here, "spike").unwrap().m_w, None);
        assert_eq!(
            table.recommend(here, ["mine", "spike"].into_iter()),
            Some("mine"),
            "neither has an error"
        );
        let known = situation(Vantage::Sender, DelayShape::Steady);
        assert_eq!(table.recommend(known, ["mine", "spike"].into_iter()), Some("spike"));
        assert_eq!(table.recommend(known, std::iter::empty()), None);
    }

    #[test]
    fn a_broken_line_is_refused_and_named() {
        let broken = TEXT.replace(",4,3,5,2", ",4,3,5");
        let error = Table::parse(&broken).unwrap_err();
        assert!(error.contains("no row of the table: sender,tcp,yes,steady,spike"), "{error}");
        assert!(Table::parse("a,b\n").is_err());
    }

    #[test]
    fn the_built_in_table_is_whole() {
        Table::parse(include_str!("accuracy.csv")).unwrap();
        for judged_at in [Vantage::Sender, Vantage::Receiver] {
            for delays in DelayShape::ALL {
                let spike = Table::built_in().expected(situation(judged_at, delays), "spike");
                assert!(
                    spike.is_some_and(|spike| spike.error().is_some()),
                    "{judged_at} {delays:?}"
                );
            }
        }
    }
}

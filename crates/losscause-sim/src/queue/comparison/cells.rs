//! `validation/ns3/cells.txt`: links, queues and arrivals.

use std::str::FromStr;

/// One link, its queue, and the flows that meet there.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub(super) name: String,
    pub(super) rate_bps: u64,
    pub(super) limit_pkts: u32,
    pub(super) ecn: bool,
    pub(super) flows: Vec<Flow>,
}

/// One source of packets; times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Figures are reported per group.
    pub(super) group: String,
    pub(super) bytes: u32,
    pub(super) start: i64,
    pub(super) source: Source,
}

#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A packet every `interval`, during the first `on` of every `on + off`.
    Cbr { interval: i64, on_off: Option<(i64, i64)> },
    /// So many packets at first, and one more an `rtt` after each has left or was dropped.
    Window { packets: i64, rtt: i64 },
    /// The same, with a window that halves after a drop or mark and grows by 1 per window without.
    Aimd { rtt: i64 },
}

pub(super) fn parse(text: &str) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![];
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "cell" => cells.push(Cell {
                name: words[1].to_owned(),
                rate_bps: value(&words, "rate_bps").unwrap(),
                limit_pkts: value(&words, "limit_pkts").unwrap(),
                ecn: words.contains(&"ecn"),
                flows: vec![],
            }),
            "flow" => cells.last_mut().unwrap().flows.push(flow(&words)),
            other => panic!("cells.txt: {other}, expected cell or flow"),
        }
    }
    cells
}

fn flow(words: &[&str]) -> Flow {
    let rtt = || value(words, "rtt").unwrap();
    let source = match words[2] {
        "cbr" => Source::Cbr {
            interval: value(words, "interval").unwrap(),
            on_off: value(words, "on").zip(value(words, "off")),
        },
        "window" => Source::Window { packets: value(words, "packets").unwrap(), rtt: rtt() },
        "aimd" => Source::Aimd { rtt: rtt() },
        other => panic!("cells.txt: {other}, expected cbr, window or aimd"),
    };
    Flow {
        group: words[1].to_owned(),
        bytes: value(words, "bytes").unwrap(),
        start: value(words, "start").unwrap(),
        source,
    }
}

fn value<T: FromStr>(words: &[&str], key: &str) -> Option<T> {
    let place = words.iter().position(|word| *word == key)?;
    words[place + 1].parse().ok()
}

//! `losscause docs`: the pages of the documentation, which are part of the program.

use std::io::{self, Write};

use losscause_study::InputError;
use losscause_study::error::unknown;

use crate::failure::Failure;
use crate::output;

/// The arguments of `docs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The page; without one, the pages are listed.
    topic: Option<String>,
    /// List the lines that contain all of these words.
    #[arg(long, value_name = "WORDS", conflicts_with = "topic")]
    search: Option<String>,
}

/// Pages for one wish of a reader.
struct Group {
    heading: &'static str,
    pages: &'static [Page],
}

/// A page.
struct Page {
    topic: &'static str,
    text: &'static str,
}

macro_rules! groups {
    ($($heading:literal: { $($topic:literal: $file:literal),+ $(,)? })+) => {
        &[$(Group {
            heading: $heading,
            pages: &[$(Page { topic: $topic, text: include_str!(concat!("../docs/", $file)) }),+],
        }),+]
    };
}

/// All pages, in the order of a reader's needs.
const GROUPS: &[Group] = groups! {
    "Do": {
        "tutorial": "tutorial.md",
        "how-to": "how-to.md",
        "own-link": "own-link.md",
        "analyze": "analyze.md",
        "watch": "watch.md",
        "kernel": "kernel.md",
        "quic": "quic.md",
        "webrtc": "webrtc.md",
        "stream": "stream.md",
        "emulate": "emulate.md",
        "python": "python.md",
        "your-own": "algorithms/your-own.md",
        "your-own-tcp": "algorithms/your-own-tcp.md",
    }
    "Look up": {
        "scenario": "scenario.md",
        "sweep": "sweep.md",
        "queues": "queues.md",
        "chance": "chance.md",
        "jakes": "channels/jakes.md",
        "safeguards": "safeguards.md",
        "json": "json.md",
    }
    "Algorithms": {
        "algorithms": "algorithms/README.md",
        "complexity": "algorithms/complexity.md",
        "bbr": "algorithms/bbr.md",
        "biaz": "algorithms/biaz.md",
        "cdg": "algorithms/cdg.md",
        "constant": "algorithms/constant.md",
        "drop-rate": "algorithms/drop-rate.md",
        "flip-flop": "algorithms/flip-flop.md",
        "fq-rtt": "algorithms/fq-rtt.md",
        "ideal-reno": "algorithms/ideal-reno.md",
        "new-jersey": "algorithms/new-jersey.md",
        "nth-loss": "algorithms/nth-loss.md",
        "reno": "algorithms/reno.md",
        "roll-back": "algorithms/roll-back.md",
        "sift": "algorithms/sift.md",
        "spike": "algorithms/spike.md",
        "tcp": "algorithms/tcp.md",
        "tcp-aware": "algorithms/tcp-aware.md",
        "tfrc": "algorithms/tfrc.md",
        "vegas-buffer": "algorithms/vegas-buffer.md",
        "veno": "algorithms/veno.md",
        "westwood-vt": "algorithms/westwood-vt.md",
        "zbs": "algorithms/zbs.md",
        "zigzag": "algorithms/zigzag.md",
    }
    "Measured": {
        "papers": "papers.md",
        "paths": "paths.md",
        "abroad": "abroad.md",
        "sift-paper": "sift.md",
        "live": "live.md",
        "quic-evaluation": "quic-evaluation.md",
        "media-evaluation": "media-evaluation.md",
        "extra": "extra.md",
    }
};

fn pages() -> impl Iterator<Item = &'static Page> {
    GROUPS.iter().flat_map(|group| group.pages)
}

/// Prints the page, lists the pages, or searches them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(words) = &arguments.search {
        return search(words);
    }
    let Some(topic) = &arguments.topic else { return list() };
    let Some(page) = pages().find(|page| page.topic.eq_ignore_ascii_case(topic)) else {
        let topics: Vec<&str> = pages().map(|page| page.topic).collect();
        return Err(refused(unknown(topic, &topics)));
    };
    Ok(io::stdout().lock().write_all(without_files(page.text).as_bytes())?)
}

fn list() -> Result<(), Failure> {
    for group in GROUPS {
        output::line(&format!("{}:", group.heading))?;
        for page in group.pages {
            output::line(&format!("  {:<16} {}", page.topic, page.title()))?;
        }
    }
    Ok(output::line(
        "\nlosscause docs TOPIC prints a page, losscause docs --search WORDS finds lines.",
    )?)
}

/// Lists the lines that contain all words, by page.
fn search(words: &str) -> Result<(), Failure> {
    let lower = words.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is_match = |line: &&str| {
        let line = line.to_lowercase();
        !words.is_empty() && words.iter().all(|word| line.contains(word))
    };
    let mut found = false;
    for page in pages() {
        let text = without_files(page.text);
        let mut lines = text.lines().filter(is_match).peekable();
        if lines.peek().is_some() {
            found = true;
            output::line(&format!("{}: {}", page.topic, page.title()))?;
        }
        for line in lines {
            output::line(&format!("  {}", line.trim()))?;
        }
    }
    if found { Ok(()) } else { Err(refused(format!("no line has all of \"{lower}\""))) }
}

fn refused(problem: String) -> Failure {
    InputError::Option { option: "docs".to_owned(), problem }.into()
}

impl Page {
    /// The heading of the page.
    fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// The page for a reader who lacks the repository: a link to another page names its topic, and a
/// link to any other file is left out. The text of a link stays.
fn without_files(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let target =
            after.split_once(')').filter(|(target, _)| !target.contains(char::is_whitespace));
        let begin = before.rfind('[');
        let (Some((target, after)), Some(begin)) = (target, begin) else {
            out += before;
            out += "](";
            rest = after;
            continue;
        };
        if target.contains("://") {
            out += &format!("{before}]({target})");
        } else {
            out += &before[..begin];
            out += before[begin + 1..].trim_end();
            if let Some(topic) = topic_of(target) {
                out += &format!(" (`losscause docs {topic}`)");
            }
        }
        rest = after;
    }
    out + rest
}

/// The topic of a page by the target of a link: `../queues.md#codel` is `queues`. The files in
/// `results/` have the names of pages, and the program does not hold them.
fn topic_of(target: &str) -> Option<&'static str> {
    if target.contains("results/") {
        return None;
    }
    let file = target.split('#').next()?.rsplit('/').next()?.strip_suffix(".md")?;
    pages().map(|page| page.topic).find(|topic| *topic == file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_folder_is_a_topic_and_has_a_title() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let files = ["", "algorithms", "channels"]
            .map(|folder| std::fs::read_dir(docs.join(folder)).unwrap());
        let files = files
            .into_iter()
            .flatten()
            .filter(|entry| {
                entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "md")
            })
            .count();
        assert_eq!(files, pages().count());
        for page in pages() {
            assert!(page.text.starts_with("# "), "{}", page.topic);
        }
    }

    #[test]
    fn a_link_to_a_page_names_its_topic_and_others_are_left_out() {
        let page = "See [the queues](../queues.md#codel), [code](../../src/x.rs), [table](../results/quic.md#noq),\n[a paper](https://x.org) or a[0](b c).";
        let expected = "See the queues (`losscause docs queues`), code, table,\n[a paper](https://x.org) or a[0](b c).";
        assert_eq!(without_files(page), expected);
    }

    #[test]
    fn no_page_links_to_a_file() {
        for page in pages() {
            let text = without_files(page.text);
            for (_, target) in text.match_indices("](").map(|(at, _)| text[at..].split_at(2)) {
                let is_relative =
                    target.split(')').next().is_some_and(|target| target.ends_with(".md"));
                assert!(!is_relative, "{}: {}", page.topic, &target[..20]);
            }
        }
    }
}

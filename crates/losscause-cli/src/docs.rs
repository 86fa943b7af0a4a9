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
}

/// A page.
struct Page {
    topic: &'static str,
    text: &'static str,
}

macro_rules! pages {
    ($($topic:literal: $file:literal),+ $(,)?) => {
        &[$(Page { topic: $topic, text: include_str!(concat!("../docs/", $file)) }),+]
    };
}

/// All pages, in the order of a reader's needs.
const PAGES: &[Page] = pages! {
    "own-link": "own-link.md",
    "analyze": "analyze.md",
    "emulate": "emulate.md",
    "stream": "stream.md",
    "scenario": "scenario.md",
    "queues": "queues.md",
    "chance": "chance.md",
    "safeguards": "safeguards.md",
    "sweep": "sweep.md",
    "watch": "watch.md",
    "kernel": "kernel.md",
    "live": "live.md",
    "quic": "quic.md",
    "quic-evaluation": "quic-evaluation.md",
    "media-evaluation": "media-evaluation.md",
    "json": "json.md",
    "papers": "papers.md",
    "paths": "paths.md",
    "abroad": "abroad.md",
    "extra": "extra.md",
    "jakes": "channels/jakes.md",
    "algorithms": "algorithms/README.md",
    "your-own": "algorithms/your-own.md",
    "your-own-tcp": "algorithms/your-own-tcp.md",
    "complexity": "algorithms/complexity.md",
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
    "sift-paper": "sift.md",
    "spike": "algorithms/spike.md",
    "tcp": "algorithms/tcp.md",
    "tcp-aware": "algorithms/tcp-aware.md",
    "tfrc": "algorithms/tfrc.md",
    "vegas-buffer": "algorithms/vegas-buffer.md",
    "veno": "algorithms/veno.md",
    "westwood-vt": "algorithms/westwood-vt.md",
    "zbs": "algorithms/zbs.md",
    "zigzag": "algorithms/zigzag.md",
};

/// Prints the page, or lists the pages.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(topic) = &arguments.topic else {
        for page in PAGES {
            output::line(&format!("{:<12} {}", page.topic, page.title()))?;
        }
        return Ok(output::line("\nlosscause docs TOPIC prints a page.")?);
    };
    let Some(page) = PAGES.iter().find(|page| page.topic.eq_ignore_ascii_case(topic)) else {
        let topics: Vec<&str> = PAGES.iter().map(|page| page.topic).collect();
        let option = "losscause docs".to_owned();
        return Err(InputError::Option { option, problem: unknown(topic, &topics) }.into());
    };
    Ok(io::stdout().lock().write_all(without_files(page.text).as_bytes())?)
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

/// The topic of a page by the target of a link: `../queues.md#codel` is `queues`.
fn topic_of(target: &str) -> Option<&'static str> {
    let file = target.split('#').next()?.rsplit('/').next()?.strip_suffix(".md")?;
    PAGES.iter().map(|page| page.topic).find(|topic| *topic == file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_folder_is_a_topic_and_has_a_title() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let files = ["", "algorithms", "channels"]
            .map(|folder| std::fs::read_dir(docs.join(folder)).unwrap());
        let pages = files
            .into_iter()
            .flatten()
            .filter(|entry| entry.as_ref().unwrap().path().is_file())
            .count();
        assert_eq!(pages, PAGES.len());
        for page in PAGES {
            assert!(page.text.starts_with("# "), "{}", page.topic);
        }
    }

    #[test]
    fn a_link_to_a_page_names_its_topic_and_others_are_left_out() {
        let page = "See [the queues](../queues.md#codel), [code](../../src/x.rs),\n[a paper](https://x.org) or a[0](b c).";
        let expected = "See the queues (`losscause docs queues`), code,\n[a paper](https://x.org) or a[0](b c).";
        assert_eq!(without_files(page), expected);
    }

    #[test]
    fn no_page_links_to_a_file() {
        for page in PAGES {
            let text = without_files(page.text);
            for (_, target) in text.match_indices("](").map(|(at, _)| text[at..].split_at(2)) {
                let is_relative =
                    target.split(')').next().is_some_and(|target| target.ends_with(".md"));
                assert!(!is_relative, "{}: {}", page.topic, &target[..20]);
            }
        }
    }
}

//! `losscause docs`: the pages of the documentation, which are part of the program.

use std::io::{self, Write};

use losscause_study::InputError;
use losscause_study::error::unknown;

use crate::failure::Failure;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The page; without one, the pages are listed.
    topic: Option<String>,
    /// List the lines that contain all of these words.
    #[arg(long, value_name = "WORDS", num_args = 1.., conflicts_with = "topic")]
    search: Vec<String>,
}

/// Pages for one wish of a reader.
struct Group {
    heading: &'static str,
    pages: &'static [Page],
}

/// A page.
struct Page {
    topic: &'static str,
    /// Its file in the folder `docs/`: "algorithms/zbs.md".
    file: &'static str,
    text: &'static str,
}

macro_rules! groups {
    ($($heading:literal: { $($topic:literal: $file:literal),+ $(,)? })+) => {
        &[$(Group {
            heading: $heading,
            pages: &[$(Page {
                topic: $topic,
                file: $file,
                text: include_str!(concat!("../docs/", $file)),
            }),+],
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
        "ray": "ray.md",
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
        "capture-accuracy": "capture-accuracy.md",
        "linux-captures": "linux-captures.md",
        "paths": "paths.md",
        "abroad": "abroad.md",
        "sift-paper": "sift.md",
        "live": "live.md",
        "quic-evaluation": "quic-evaluation.md",
        "media-evaluation": "media-evaluation.md",
    }
    "Papers": {
        "papers": "papers.md",
        "barman2002": "reproduction/barman2002.md",
        "biaz1999": "reproduction/biaz1999.md",
        "cen2003": "reproduction/cen2003.md",
        "extra": "extra.md",
        "dalwadi": "reproduction/dalwadi.md",
        "koo2007": "reproduction/koo2007.md",
    }
    "The simulator beside others": {
        "ns2": "validation/ns2.md",
        "linux": "validation/linux.md",
        "theory": "validation/theory.md",
    }
};

fn pages() -> impl Iterator<Item = &'static Page> {
    GROUPS.iter().flat_map(|group| group.pages)
}

/// Prints the page, lists the pages, or searches them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.search.is_empty() {
        return search(&arguments.search.join(" "));
    }
    let Some(topic) = &arguments.topic else { return list() };
    let Some(page) = pages().find(|page| page.topic.eq_ignore_ascii_case(topic)) else {
        let topics: Vec<&str> = pages().map(|page| page.topic).collect();
        let unknown = unknown(topic, &topics);
        let search = format!("losscause docs --search '{topic}' looks in all pages");
        return Err(refused(format!("{unknown}; {search}")));
    };
    Ok(io::stdout().lock().write_all(page.without_files().as_bytes())?)
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
        let text = page.without_files();
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
    InputError::option("docs", problem).into()
}

impl Page {
    /// The heading of the page.
    fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The page for a reader who lacks the repository.
    fn without_files(&self) -> String {
        without_files(self.text, self.file)
    }
}

/// The text of the page `file`: a link to another page names its topic, and a link to any other file
/// is left out. The text of a link stays, unless it is the page's file.
fn without_files(text: &str, file: &str) -> String {
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
            let (before_link, is_picture) = match before[..begin].strip_suffix('!') {
                Some(text) => (text, true),
                None => (&before[..begin], false),
            };
            out += before_link;
            out += if is_picture { "Picture: " } else { "" };
            let words = before[begin + 1..].trim_end();
            out += &match topic_of(target, file) {
                Some(topic) if words.ends_with(".md") => format!("`losscause docs {topic}`"),
                Some(topic) => format!("{words} (`losscause docs {topic}`)"),
                None => words.to_owned(),
            };
        }
        rest = after;
    }
    out + rest
}

/// The topic of the page that a link of the page `file` leads to: `../queues.md#codel` is `queues`.
fn topic_of(target: &str, file: &str) -> Option<&'static str> {
    let mut path: Vec<&str> = file.split('/').collect();
    path.pop();
    for part in target.split('#').next()?.split('/') {
        match part {
            // Above the folder are no pages.
            ".." => _ = path.pop()?,
            part => path.push(part),
        }
    }
    let path = path.join("/");
    pages().find(|page| page.file == path).map(|page| page.topic)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The pages in a folder and below it, as paths from `docs`.
    fn found(docs: &Path, below: &Path, pages: &mut BTreeSet<String>) {
        for entry in fs::read_dir(docs.join(below)).unwrap() {
            let path = below.join(entry.unwrap().file_name());
            if docs.join(&path).is_dir() {
                found(docs, &path, pages);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.insert(path.to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn every_page_of_the_folder_is_a_topic_and_has_a_title() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        // A package of the program alone has the pages only.
        let docs = package.join("../../docs");
        let docs = if docs.is_dir() { docs } else { package.join("docs") };
        let mut files = BTreeSet::new();
        found(&docs, Path::new(""), &mut files);
        // `losscause docs` lists the pages itself; the tables of results have pages that tell them.
        files.retain(|file| file != "README.md" && !file.starts_with("results/"));
        assert_eq!(files, pages().map(|page| page.file.to_owned()).collect());
        for page in pages() {
            assert!(page.text.starts_with("# "), "{}", page.topic);
        }
    }

    #[test]
    fn a_link_to_a_page_names_its_topic_and_others_are_left_out() {
        let page = "See [the queues](../queues.md#codel) ([queues.md](../queues.md)), [code](../../src/x.rs), [table](../../results/quic.md#noq),\n[a paper](https://x.org) or a[0](b c).";
        let expected = "See the queues (`losscause docs queues`) (`losscause docs queues`), code, table,\n[a paper](https://x.org) or a[0](b c).";
        assert_eq!(without_files(page, "algorithms/zbs.md"), expected);
    }

    #[test]
    fn a_picture_is_told_in_its_words() {
        assert_eq!(
            without_files("a\n\n![A queue](images/q.png)\n", "x.md"),
            "a\n\nPicture: A queue\n"
        );
    }

    #[test]
    fn of_two_pages_of_one_name_a_link_means_that_of_its_folder() {
        let link = "[Sift](sift.md)";
        assert_eq!(without_files(link, "abroad.md"), "Sift (`losscause docs sift-paper`)");
        assert_eq!(without_files(link, "algorithms/zbs.md"), "Sift (`losscause docs sift`)");
    }

    #[test]
    fn no_page_links_to_a_file() {
        for page in pages() {
            let text = page.without_files();
            for (_, target) in text.match_indices("](").map(|(at, _)| text[at..].split_at(2)) {
                let is_relative =
                    target.split(')').next().is_some_and(|target| target.ends_with(".md"));
                assert!(!is_relative, "{}: {}", page.topic, &target[..20]);
            }
        }
    }
}

//! The pages of the algorithms that are part of the program: the idea and the equation of each.

/// The pages, from docs/algorithms.
const PAGES: [&str; 14] = [
    include_str!("../algorithms/biaz.md"),
    include_str!("../algorithms/cdg.md"),
    include_str!("../algorithms/constant.md"),
    include_str!("../algorithms/drop-rate.md"),
    include_str!("../algorithms/flip-flop.md"),
    include_str!("../algorithms/fq-rtt.md"),
    include_str!("../algorithms/nth-loss.md"),
    include_str!("../algorithms/roll-back.md"),
    include_str!("../algorithms/sift.md"),
    include_str!("../algorithms/spike.md"),
    include_str!("../algorithms/vegas-buffer.md"),
    include_str!("../algorithms/veno.md"),
    include_str!("../algorithms/zbs.md"),
    include_str!("../algorithms/zigzag.md"),
];

/// What a page says about an algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Idea {
    /// The first two sentences of the idea.
    pub(super) text: String,
    /// The equation, line by line.
    pub(super) equation: String,
    /// What the symbols mean, and what follows the equation: one paragraph or list entry each.
    pub(super) symbols: Vec<String>,
}

/// The idea of the algorithm `name`; none if no page is about it, or the page has no such part.
pub(super) fn idea(name: &str) -> Option<Idea> {
    let is_about = |page: &&&str| {
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ").to_lowercase();
        title.split([',', ' ']).any(|word| word == name.to_lowercase())
            || title.contains(&name.to_lowercase())
    };
    let page = PAGES.iter().find(is_about)?;
    let (_, after) = page.split_once("## Idea\n")?;
    let part = after.split("\n## ").next().unwrap_or(after);
    let is_equation = |block: &&str| block.starts_with("    ");
    let blocks: Vec<&str> = part
        .split("\n\n")
        .map(|block| block.trim_matches('\n'))
        .filter(|block| !block.is_empty())
        .collect();
    let start = blocks.iter().position(is_equation).unwrap_or(blocks.len());
    let (before, rest) = blocks.split_at(start);
    let end = rest.iter().position(|block| !is_equation(block)).unwrap_or(rest.len());
    // A later indented block is an example of what the paragraph before it says.
    let (equation, after) = rest.split_at(end);
    let text = before.iter().map(|block| plain(block)).collect::<Vec<_>>().join(" ");
    let mut symbols: Vec<String> = Vec::new();
    for block in after {
        match symbols.last_mut().filter(|_| is_equation(block)) {
            Some(paragraph) => *paragraph += &format!(" {}", plain(block)),
            None => symbols.extend(entries(block)),
        }
    }
    let unindented = |line: &str| line.strip_prefix("    ").unwrap_or(line).to_owned();
    let equation = equation.join("\n").lines().map(unindented).collect::<Vec<_>>().join("\n");
    Some(Idea { text: sentences(&text, 2), equation, symbols })
}

/// The entries of a list, the rows of a table without its head, or the paragraph itself.
fn entries(block: &str) -> Vec<String> {
    if let Some(list) = block.strip_prefix("- ") {
        return list.split("\n- ").map(plain).collect();
    }
    if !block.starts_with('|') {
        return vec![plain(block)];
    }
    let row = |line: &str| {
        let cells = line.trim_matches('|').split('|').map(plain);
        cells.collect::<Vec<_>>().join(": ")
    };
    block.lines().skip(2).map(row).collect()
}

/// Markdown as plain text on one line: no marks of code, and of a link its words.
fn plain(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "");
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Before the part stand a link's words, in it first the link's address.
        if let (Some(begin), Some((_, after))) = (plain.rfind('['), part.split_once(')')) {
            plain.remove(begin);
            plain += after;
        }
    }
    plain
}

/// The first few sentences of a text. "et al." does not end one.
fn sentences(text: &str, most: usize) -> String {
    let ends =
        text.match_indices(". ").map(|(at, _)| at + 1).filter(|&at| !text[..at].ends_with("al."));
    ends.take(most)
        .last()
        .filter(|_| text.matches(". ").count() >= most)
        .map_or(text, |at| &text[..at])
        .to_owned()
}

#[cfg(test)]
mod tests {
    use losscause::BuiltIn;

    use super::*;

    #[test]
    fn every_published_algorithm_has_its_idea_and_its_equation() {
        for algorithm in BuiltIn::ALL.iter().copied() {
            let found = idea(algorithm.name());
            if algorithm.name().starts_with("always") {
                assert_eq!(found, None, "it compares nothing");
                continue;
            }
            let idea = found.unwrap_or_else(|| panic!("{algorithm}"));
            assert!(
                idea.text.ends_with(['.', ':']) && idea.text.matches(". ").count() <= 1,
                "{algorithm}: {}",
                idea.text
            );
            let has_outcome =
                ["wireless", "spike", "ZigZag"].iter().any(|word| idea.equation.contains(word));
            assert!(
                has_outcome && !idea.equation.starts_with(' '),
                "{algorithm}: {}",
                idea.equation
            );
        }
        assert_eq!(idea("near minimum"), None);
    }

    #[test]
    fn no_page_shows_the_marks_of_markdown_or_an_example_that_is_missing() {
        for algorithm in BuiltIn::ALL {
            let Some(Idea { text, equation, symbols }) = idea(algorithm.name()) else { continue };
            for part in symbols.iter().chain([&text, &equation]) {
                let is_marked = ["](", "`", "|---", "| "].iter().any(|mark| part.contains(mark));
                assert!(!is_marked, "{algorithm}: {part}");
            }
            let ends_early = |entry: &&String| entry.ends_with(':');
            assert_eq!(symbols.iter().find(ends_early), None, "{algorithm}");
        }
        let sift = idea("Sift").expect("a page");
        assert!(sift.equation.ends_with("packets are missing"), "{}", sift.equation);
        assert!(sift.symbols.iter().any(|entry| entry.starts_with("rank: how many of 32")));
        assert!(sift.symbols.iter().any(|entry| entry.contains(", such as: Sift: evidence for")));
    }

    #[test]
    fn a_paragraph_is_cut_after_two_sentences_a_list_into_entries() {
        assert_eq!(sentences("One. Two et al. go on. Three. Four.", 2), "One. Two et al. go on.");
        assert_eq!(sentences("Only one.", 2), "Only one.");
        assert_eq!(entries("- a: `b`\n  more\n- c"), ["a: b more", "c"]);
        assert_eq!(entries("| a | b |\n|---|---|\n| `c` | d |\n| e | f |"), ["c: d", "e: f"]);
        assert_eq!(plain("[why](a.md#b), in x[0] and\n[c]"), "why, in x[0] and [c]");
    }
}

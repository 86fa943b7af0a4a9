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
    let equation: Vec<&str> = blocks.iter().copied().filter(is_equation).collect();
    let before = blocks.iter().take_while(|block| !is_equation(block));
    let text = before
        .map(|block| block.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(" ");
    let symbols =
        blocks.iter().skip_while(|block| !is_equation(block)).filter(|block| !is_equation(block));
    let symbols = symbols.flat_map(|block| entries(block)).collect();
    let unindented = |line: &str| line.strip_prefix("    ").unwrap_or(line).to_owned();
    let equation = equation.join("\n").lines().map(unindented).collect::<Vec<_>>().join("\n");
    Some(Idea { text: sentences(&text, 2), equation, symbols })
}

/// The entries of a list, or the paragraph itself, without marks of code.
fn entries(block: &str) -> Vec<String> {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "");
    match block.strip_prefix("- ") {
        Some(list) => list.split("\n- ").map(plain).collect(),
        None => vec![plain(block)],
    }
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
    fn a_paragraph_is_cut_after_two_sentences_a_list_into_entries() {
        assert_eq!(sentences("One. Two et al. go on. Three. Four.", 2), "One. Two et al. go on.");
        assert_eq!(sentences("Only one.", 2), "Only one.");
        assert_eq!(entries("- a: `b`\n  more\n- c"), ["a: b more", "c"]);
    }
}

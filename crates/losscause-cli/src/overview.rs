//! `losscause` alone and `losscause --help`: the verbs, by what a reader wants.

use std::fmt::Write;

use clap::Command;

/// The verbs of each wish, in the order in which a newcomer needs them.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Find the cause", &["analyze", "watch"]),
    ("Judge a link", &["init", "compare", "simulate", "sweep", "lab", "fade"]),
    ("Switch it on", &["emulate", "kernel", "stream"]),
    ("Repeat and look up", &["reproduce", "list", "docs", "completions", "man"]),
];

/// `program` with help that shows its verbs in groups.
pub(crate) fn grouped(program: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n\nOptions:\n{{options}}",
        verbs(&program)
    );
    program.help_template(template)
}

/// What `losscause` alone prints.
pub(crate) fn of(program: &Command) -> String {
    let about = program.get_about().map(ToString::to_string).unwrap_or_default();
    format!(
        "{about}.\n{}\n\nlosscause VERB --help says more; losscause docs lists the pages.",
        verbs(program)
    )
}

fn verbs(program: &Command) -> String {
    let mut text = String::new();
    for (wish, verbs) in GROUPS {
        _ = write!(text, "\n{wish}:");
        for verb in verbs.iter().filter_map(|verb| program.find_subcommand(verb)) {
            // It has no styles, and to look for them takes a sixth of the start-up.
            let about = verb.get_about().map(|about| about.ansi().to_string()).unwrap_or_default();
            _ = write!(text, "\n  {:<11} {about}", verb.get_name());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group() {
        let program = crate::program();
        for verb in program.get_subcommands().map(Command::get_name) {
            let groups = GROUPS.iter().filter(|(_, verbs)| verbs.contains(&verb)).count();
            assert_eq!(groups, 1, "{verb}");
        }
    }

    #[test]
    fn a_verb_says_the_same_of_itself_alone_and_among_all() {
        let whole = crate::whole();
        for verb in crate::program().get_subcommands() {
            let built = whole.find_subcommand(verb.get_name()).expect("it is one of all");
            assert_eq!(built.get_about(), verb.get_about(), "{}", verb.get_name());
            assert_eq!(built.get_long_about(), verb.get_long_about(), "{}", verb.get_name());
        }
    }

    #[test]
    fn every_verb_takes_one_line() {
        for line in of(&crate::program()).lines() {
            assert!(line.len() <= 100, "{line}");
        }
    }
}

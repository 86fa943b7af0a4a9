//! Wrong arguments, each in one sentence: what is wrong, what was expected, and the nearest name.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use losscause_study::error::{nearest, unknown};
use losscause_study::scenario::recommended_lda;

use crate::failure::Failure;

/// Prints help and the version; a wrong argument of `program` becomes a failure.
pub(crate) fn outcome(
    error: &clap::Error,
    program: fn() -> Command,
    arguments: &[OsString],
) -> Result<(), Failure> {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        write!(io::stdout(), "{}", error.render())?;
        return Ok(());
    }
    let program = &program();
    let verb = verb(program, arguments);
    let sentence = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Some("no command was given, expected one of those that `losscause --help` lists".into())
        }
        ErrorKind::MissingRequiredArgument => missing(error, &verb),
        ErrorKind::InvalidSubcommand => unknown_verb(error, program),
        ErrorKind::UnknownArgument => unknown_argument(error, program, &verb),
        ErrorKind::InvalidValue => unknown_value(error, &verb),
        _ => wrong_number(error),
    };
    Err(Failure::Usage(sentence.unwrap_or_else(|| in_claps_words(error))))
}

/// The command that the arguments name, with the commands below it: `kernel`, `status`.
fn verb<'a>(program: &'a Command, arguments: &[OsString]) -> Vec<&'a Command> {
    let mut found = vec![];
    let mut inner = program;
    for argument in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        match inner.find_subcommand(argument) {
            Some(next) => {
                found.push(next);
                inner = next;
            }
            None if argument.starts_with('-') => {}
            None => break,
        }
    }
    found
}

/// The words that call the command: `kernel status`.
fn called(verb: &[&Command]) -> String {
    verb.iter().map(|verb| verb.get_name()).collect::<Vec<_>>().join(" ")
}

/// What clap names in its error.
fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

/// "simulate: <SCENARIO.toml> is missing (`losscause init` writes one), expected as in `losscause
/// simulate --help`".
fn missing(error: &clap::Error, verb: &[&Command]) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let called = called(verb);
    let is = if missing.len() == 1 { "is" } else { "are" };
    let is_scenario = missing.iter().any(|one| one == "<SCENARIO.toml>");
    let hint = if is_scenario { " (`losscause init` writes one)" } else { "" };
    let missing = missing.join(", ");
    Some(format!(
        "{called}: {missing} {is} missing{hint}, expected as in `losscause {called} --help`"
    ))
}

/// "simulat: there is no such command (did you mean simulate?), expected one that `losscause --help`
/// lists".
fn unknown_verb(error: &clap::Error, program: &Command) -> Option<String> {
    let name = context(error, ContextKind::InvalidSubcommand)?;
    let known = program.get_subcommands().map(Command::get_name);
    let hint = nearest(name, known).map(|near| format!(" (did you mean {near}?)"));
    Some(format!(
        "{name}: there is no such command{}, expected one that `losscause --help` lists",
        hint.unwrap_or_default()
    ))
}

/// "simulate has no option --rusn (did you mean --runs?), expected one that `losscause simulate
/// --help` lists".
fn unknown_argument(error: &clap::Error, program: &Command, verb: &[&Command]) -> Option<String> {
    let wrong = context(error, ContextKind::InvalidArg)?;
    let command = verb.last().copied().unwrap_or(program);
    let lists = format!("{} --help", ["losscause", &called(verb)].join(" ").trim_end());
    let name = if verb.is_empty() { "losscause".to_owned() } else { called(verb) };
    let Some(option) = wrong.strip_prefix("--") else {
        let what =
            if wrong.starts_with('-') { "has no option" } else { "takes no further argument" };
        return Some(format!("{name} {what} {wrong}, expected what `{lists}` lists"));
    };
    let similar = context(error, ContextKind::SuggestedArg).and_then(|arg| arg.strip_prefix("--"));
    let hint = hint(option, similar, command, program).map(|hint| format!(" ({hint})"));
    Some(format!(
        "{name} has no option {wrong}{}, expected one that `{lists}` lists",
        hint.unwrap_or_default()
    ))
}

/// What may be meant by an option that `command` lacks. Of equally near ones clap knows the `similar`.
fn hint(
    option: &str,
    similar: Option<&str>,
    command: &Command,
    program: &Command,
) -> Option<String> {
    let options = |command: &Command| {
        command.get_arguments().filter_map(Arg::get_long).map(str::to_owned).collect::<Vec<_>>()
    };
    let own = options(command);
    let takes_settings = own.iter().any(|own| own == "set");
    if option == "lda" && takes_settings {
        let lda = recommended_lda();
        return Some(format!(
            "did you mean --set flow.NAME.lda={lda}, or compare --lda none,{lda}?"
        ));
    }
    let is_near = |similar: &&str| nearest(option, [*similar]).is_some();
    let near = || nearest(option, own.iter().map(String::as_str));
    if let Some(near) = similar.filter(is_near).or_else(near) {
        return Some(format!("did you mean --{near}?"));
    }
    let others: Vec<&str> = program
        .get_subcommands()
        .filter(|other| options(other).iter().any(|own| own == option))
        .map(Command::get_name)
        .collect();
    if let Some((last, before)) = others.split_last() {
        let has = if before.is_empty() { "has" } else { "have" };
        let before: String = before.iter().map(|other| format!("{other}, ")).collect();
        return Some(format!("losscause {before}{last} {has} it"));
    }
    takes_settings.then(|| format!("a scenario's value is set with --set {option}=VALUE"))
}

/// "list: \"algos\" is unknown (did you mean \"algorithms\"?), expected one of algorithms, protocols".
fn unknown_value(error: &clap::Error, verb: &[&Command]) -> Option<String> {
    let place = context(error, ContextKind::InvalidArg)?.split(' ').next()?;
    let place = if place.starts_with('-') { place.to_owned() } else { called(verb) };
    let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue) else {
        return None;
    };
    let value = context(error, ContextKind::InvalidValue)?;
    if value.is_empty() {
        let expected = match known.as_slice() {
            [] => format!("one as in `losscause {} --help`", called(verb)),
            known => format!("one of {}", known.join(", ")),
        };
        return Some(format!("{place}: has no value, expected {expected}"));
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    Some(format!("{place}: {}", unknown(value, &known)))
}

/// The sentence about an option whose value should be a number: "--runs -1: expected a whole number
/// from 1 to 10000".
fn wrong_number(error: &clap::Error) -> Option<String> {
    let option = context(error, ContextKind::InvalidArg)?.split(' ').next()?;
    let value = context(error, ContextKind::InvalidValue)?;
    let reason = error.source()?.to_string();
    let expected = match reason.split_once(" is not in ") {
        Some((_, range)) => {
            let (least, most) = range.split_once("..")?;
            let most = most.trim_start_matches('=');
            format!("a whole number from {least} to {most}")
        }
        // A parser of this program says it itself.
        None if reason.starts_with("expected ") => reason["expected ".len()..].to_owned(),
        None if reason.starts_with("invalid digit") || reason.starts_with("number too") => {
            "a whole number from 0".to_owned()
        }
        None if reason == "cannot parse integer from empty string" => "a whole number".to_owned(),
        None if reason.contains("float") => "a number".to_owned(),
        None => return None,
    };
    Some(format!("{option} {value}: expected {expected}"))
}

/// clap writes its error, a tip and the usage on lines of their own; the first paragraph is the error.
fn in_claps_words(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut paragraphs = text
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut sentence = paragraphs.next().unwrap_or_default();
    if let Some(tip) = paragraphs.find(|paragraph| paragraph.starts_with("tip: ")) {
        sentence = format!("{sentence} ({})", tip.trim_start_matches("tip: "));
    }
    sentence.trim_start_matches("error: ").to_owned()
}

//! What is beside the program in a package: manual pages, completions, licences, the list of
//! components, a unit for systemd, and a capture to try.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Release;
use super::components::Components;
use super::processor::Processor;
use super::program::Program;
use crate::shell::{self, root};

/// The capture that the README begins with, for a first answer.
pub(super) const CAPTURE: &str = "examples/slow.pcap.gz";
/// Its place in a package.
pub(super) const CAPTURE_IN_PACKAGE: &str = "share/losscause/slow.pcap.gz";

/// Files of the repository that a package holds, below `share/doc/losscause`.
const DOCUMENTS: [(&str, &str); 8] = [
    ("README.md", "README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("SECURITY.md", "SECURITY.md"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("crates/losscause-linux/LICENSE-GPL-2.0", "LICENSE-GPL-2.0"),
    ("crates/losscause-laboratory/LICENSE-BSD-3-Clause", "LICENSE-BSD-3-Clause"),
    ("packaging/copyright", "copyright"),
];

/// Writes the files of a package below its root, such as `/usr`.
pub(super) fn write(
    root_of_package: &Path,
    processor: Processor,
    release: &Release,
    program: &Program,
) -> Result<()> {
    let add = |path: &str, bytes: Vec<u8>| shell::write(root_of_package.join(path), bytes);
    let read = |path: &str| fs::read(root().join(path)).context(path.to_owned());
    for (file, name) in DOCUMENTS {
        add(&format!("share/doc/losscause/{name}"), read(file)?)?;
    }
    add(CAPTURE_IN_PACKAGE, read(CAPTURE)?)?;
    let components = Components::of_the_command(processor)?;
    add("share/doc/losscause/sbom.cdx.json", components.bill_of_materials(release)?.into())?;
    add("share/doc/losscause/LICENSES-OF-COMPONENTS.txt", components.licences()?.into())?;
    for (shell, path) in [
        ("bash", "share/bash-completion/completions/losscause"),
        ("fish", "share/fish/vendor_completions.d/losscause.fish"),
        ("zsh", "share/zsh/site-functions/_losscause"),
    ] {
        add(path, program.output(&["completions", shell])?)?;
    }
    add("share/man/man1/losscause.1", program.output(&["man"])?)?;
    let verbs = verbs(&String::from_utf8(program.output(&["--help"])?)?);
    if verbs.is_empty() {
        bail!("the program's help lists no verb");
    }
    for verb in verbs {
        let page = program.output(&["man", &verb])?;
        add(&format!("share/man/man1/losscause-{verb}.1"), page)?;
    }
    let unit = program.output(&["kernel", "install", UNIT_OF, "--dry-run"])?;
    let unit = any_unit(&String::from_utf8(unit)?, &program.path.display().to_string());
    add("lib/systemd/system/losscause-kernel@.service", unit.into())?;
    let place = root_of_package.join("bin/losscause");
    fs::create_dir_all(root_of_package.join("bin"))?;
    fs::copy(&program.path, place).map(|_| ()).context("the program")
}

/// The congestion control whose unit becomes that of all.
const UNIT_OF: &str = "lc_spike";

/// The unit that loads the congestion control that it is started for: `losscause-kernel@NAME`.
/// `here` is the program that has printed `unit`.
fn any_unit(unit: &str, here: &str) -> String {
    let text = unit.replace(here, "/usr/bin/losscause").replace(UNIT_OF, "%i");
    // The first line names the file that `kernel install` would write.
    text.lines().skip(1).flat_map(|line| [line, "\n"]).collect()
}

/// The verbs that the program's help lists, in groups above its options.
fn verbs(help: &str) -> Vec<String> {
    let above = help.lines().take_while(|line| *line != "Options:");
    let listed = above.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    listed.filter_map(first).filter(|verb| verb != "help").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_begins_a_line_above_the_options() {
        let help = "Tell why\n\nUsage: a\n\nRun it:\n  simulate  Run a\n            scenario\nSwitch it on:\n  \
                    kernel    Load\n  help      Print\n\nOptions:\n  -q  Quiet\n";
        assert_eq!(verbs(help), ["simulate", "kernel"]);
    }

    #[test]
    fn one_unit_serves_every_congestion_control() {
        let unit = "# /etc/systemd/system/losscause-lc-spike.service\n[Service]\nExecStart=/a/losscause kernel load lc_spike\n";
        let expected = "[Service]\nExecStart=/usr/bin/losscause kernel load %i\n";
        assert_eq!(any_unit(unit, "/a/losscause"), expected);
    }
}

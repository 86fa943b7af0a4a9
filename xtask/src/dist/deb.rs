//! A package for Debian and Ubuntu. The program is linked statically, so the package depends on no
//! other.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use super::Release;
use super::processor::Processor;
use crate::shell::{command, output, run, text, write};

/// Makes the package `file` of what `root` holds below `usr`.
pub(super) fn package(
    root: &Path,
    file: &Path,
    processor: Processor,
    release: &Release,
) -> Result<()> {
    let mut find = command("find");
    let sizes = text(find.arg(root.join("usr")).args(["-type", "f", "-printf", "%s\n"]))?;
    let sizes: Vec<u64> = sizes.lines().map(str::parse).collect::<Result<_, _>>()?;
    let description = description(sizes.iter().sum(), processor, release);
    write(root.join("DEBIAN/control"), description)?;
    run(command("chmod --recursive u=rwX,go=rX").arg(root))?;
    let mut build = command("dpkg-deb --root-owner-group -Zgzip --build");
    build.args([root, file]).env("SOURCE_DATE_EPOCH", release.epoch_s.to_string());
    output(build).map(drop)
}

fn description(bytes: u64, processor: Processor, release: &Release) -> String {
    let mut text = format!(
        "Package: losscause\n\
         Version: {}\n\
         Architecture: {}\n\
         Maintainer: the losscause developers\n\
         Installed-Size: {}\n\
         Section: net\n\
         Priority: optional\n",
        release.version,
        processor.in_debian(),
        bytes.div_ceil(1024)
    );
    if let Some(homepage) = &release.homepage {
        let _ = writeln!(text, "Homepage: {homepage}");
    }
    text + "Description: tells congestion loss from wireless loss\n\
            \x20losscause says why packets were lost, from timing alone: on captures, in a\n\
            \x20simulator, and in the running kernel's TCP.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_named_only_if_there_is_one() {
        let mut release = Release { version: "1.2.3".into(), epoch_s: 0, homepage: None };
        let said = description(1025, Processor::Aarch64, &release);
        assert!(said.contains("Version: 1.2.3\nArchitecture: arm64\n"), "{said}");
        assert!(said.contains("\nInstalled-Size: 2\n") && !said.contains("Homepage"), "{said}");
        release.homepage = Some("a place".into());
        assert!(description(0, Processor::X86_64, &release).contains("\nHomepage: a place\n"));
    }

    #[test]
    fn a_package_says_nothing_of_when_where_and_in_which_order_it_was_made() {
        let place = tempfile::tempdir().unwrap();
        let made = |name: &str, day: &str, mode: &str, order: [&str; 2]| {
            let root = place.path().join(name);
            for path in order.map(|path| root.join("usr").join(path)) {
                write(&path, "x").unwrap();
                run(command(&format!("touch --date {day}")).arg(&path)).unwrap();
                run(command(&format!("chmod {mode}")).arg(path)).unwrap();
            }
            let file = root.with_extension("deb");
            let release =
                Release { version: "1.2.3".into(), epoch_s: 1_700_000_000, homepage: None };
            package(&root, &file, Processor::X86_64, &release).unwrap();
            let listed = text(command("dpkg-deb --contents").arg(&file).env("TZ", "UTC")).unwrap();
            for line in listed.lines() {
                let is_plain = line.contains(" root/root ") && line.contains(" 2023-11-14 22:13 ");
                assert!(is_plain, "{line}");
            }
            std::fs::read(file).unwrap()
        };
        let one = made("one", "2030-01-01", "755", ["bin/losscause", "share/z"]);
        assert!(one == made("another", "2031-02-03", "700", ["share/z", "bin/losscause"]));
    }
}

//! A package for Debian and Ubuntu: an `ar` archive of two compressed archives. The program is
//! linked statically, so the package depends on no other.

use std::fmt::Write as _;

use anyhow::Result;

use super::Release;
use super::files::Files;
use super::processor::Processor;

/// The package with `files` below `/usr`.
pub(super) fn package(files: &Files, processor: Processor, release: &Release) -> Result<Vec<u8>> {
    let mut control = Files::default();
    control.add("control", description(files, processor, release));
    let mut package = b"!<arch>\n".to_vec();
    append(&mut package, "debian-binary", b"2.0\n", release.epoch_s);
    append(
        &mut package,
        "control.tar.gz",
        &control.tar_gz("./", release.epoch_s)?,
        release.epoch_s,
    );
    append(&mut package, "data.tar.gz", &files.tar_gz("./usr/", release.epoch_s)?, release.epoch_s);
    Ok(package)
}

fn description(files: &Files, processor: Processor, release: &Release) -> String {
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
        files.size().div_ceil(1024)
    );
    if let Some(homepage) = &release.homepage {
        let _ = writeln!(text, "Homepage: {homepage}");
    }
    text + "Description: tells congestion loss from wireless loss\n\
            \x20losscause says why packets were lost, from timing alone: on captures, in a\n\
            \x20simulator, and in the running kernel's TCP.\n"
}

/// A member of an `ar` archive: its header has 60 bytes, and members begin at even places.
fn append(archive: &mut Vec<u8>, name: &str, bytes: &[u8], epoch_s: u64) {
    let header =
        format!("{name:<16}{epoch_s:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", bytes.len());
    archive.extend_from_slice(header.as_bytes());
    archive.extend_from_slice(bytes);
    if !bytes.len().is_multiple_of(2) {
        archive.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_has_a_header_of_60_bytes_and_an_even_length() {
        let mut archive = Vec::new();
        append(&mut archive, "debian-binary", b"2.0", 1_700_000_000);
        let expected = "debian-binary   1700000000  0     0     100644  3         `\n2.0\n";
        assert_eq!(String::from_utf8(archive).unwrap(), expected);
    }

    #[test]
    fn an_address_is_named_only_if_there_is_one() {
        let mut release = Release { version: "1.2.3".into(), epoch_s: 0, homepage: None };
        let mut files = Files::default();
        files.add("a", vec![0; 1025]);
        let said = description(&files, Processor::Aarch64, &release);
        assert!(said.contains("Version: 1.2.3\nArchitecture: arm64\n"), "{said}");
        assert!(said.contains("\nInstalled-Size: 2\n") && !said.contains("Homepage"), "{said}");
        release.homepage = Some("a place".into());
        assert!(description(&files, Processor::X86_64, &release).contains("\nHomepage: a place\n"));
    }
}

//! `bpf/replay.c`, compiled for this machine.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use losscause::Verdict;

use crate::streams::Stream;

/// An algorithm with its parameters.
pub(crate) struct Host {
    program: tempfile::TempPath,
    parameters: Vec<String>,
}

impl Host {
    /// The algorithm of `bpf/algorithm/HEADER`.
    pub(crate) fn compile(header: &str, parameters: &[u64]) -> Self {
        let bpf = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
        let program = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let cc = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(cc);
        // Undefined arithmetic stops the program: the kernel's would silently differ.
        command.args([
            "-O1",
            "-Wall",
            "-Wextra",
            "-Wno-unused-parameter",
            "-Werror",
            "-fsanitize=undefined",
            "-fno-sanitize=shift-base",
        ]);
        command.args(["-fno-sanitize-recover", &format!("-DALGORITHM=\"algorithm/{header}\"")]);
        let status = command.arg(bpf.join("replay.c")).arg("-o").arg(&program).status().unwrap();
        assert!(status.success(), "replay.c with {header}");
        Self { program, parameters: parameters.iter().map(u64::to_string).collect() }
    }

    /// Its verdict on every lost packet.
    pub(crate) fn verdicts(&self, stream: &Stream) -> Vec<Verdict> {
        let mut command = Command::new(&self.program);
        command.args(&self.parameters).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut input, text) = (child.stdin.take().unwrap(), stream.lines());
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success(), "{:?}", output.status);
        let verdict = |line: &str| match line {
            "1" => Verdict::Congestion,
            "2" => Verdict::Wireless,
            "3" => Verdict::Undecided,
            other => panic!("no verdict: {other}"),
        };
        String::from_utf8(output.stdout).unwrap().lines().map(verdict).collect()
    }
}

//! `bpf/replay.c`, compiled for this machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use losscause::Verdict;

/// An algorithm.
pub(crate) struct Host {
    program: PathBuf,
}

impl Host {
    /// The algorithm of `bpf/algorithm/HEADER`.
    pub(crate) fn compile(header: &str) -> Self {
        let bpf = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(header).with_extension("replay");
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
        Self { program }
    }

    /// Its verdict on every lost packet of streams in text, with these parameters.
    pub(crate) fn verdicts(&self, parameters: &[u64], streams: &str) -> Vec<Verdict> {
        let mut command = Command::new(&self.program);
        command.args(parameters.iter().map(u64::to_string)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || input.write_all(streams.as_bytes()).unwrap());
            child.wait_with_output().unwrap()
        });
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

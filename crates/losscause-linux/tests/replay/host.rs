//! `bpf/replay.c`, `bpf/safeguard.c` and `bpf/connection.c`, compiled for this machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use losscause::Verdict;

/// A program on the host.
pub(crate) struct Host {
    program: PathBuf,
}

impl Host {
    /// The algorithm of `bpf/algorithm/HEADER`.
    pub(crate) fn algorithm(header: &str) -> Self {
        Self::compile("replay.c", header, &[&format!("-DALGORITHM=\"algorithm/{header}\"")])
    }

    /// Guard and brake.
    pub(crate) fn safeguard() -> Self {
        Self::compile("safeguard.c", "response/safeguard.h", &[])
    }

    /// The whole program of `bpf/SOURCE`, on one connection.
    pub(crate) fn program(source: &str) -> Self {
        Self::compile("connection.c", source, &["-DLC_HOST", &format!("-DPROGRAM=\"{source}\"")])
    }

    fn compile(main: &str, of: &str, definitions: &[&str]) -> Self {
        let bpf = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(of.replace('/', "-"))
            .with_extension("replay");
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
            "-fno-sanitize-recover",
        ]);
        let status =
            command.args(definitions).arg(bpf.join(main)).arg("-o").arg(&program).status().unwrap();
        assert!(status.success(), "{main} with {of}");
        Self { program }
    }

    /// An algorithm's verdict on every lost packet of streams in text, with these parameters.
    pub(crate) fn verdicts(&self, parameters: &[u64], streams: &str) -> Vec<Verdict> {
        let verdict = |line: &str| match line {
            "1" => Verdict::Congestion,
            "2" => Verdict::Wireless,
            "3" => Verdict::Undecided,
            other => panic!("no verdict: {other}"),
        };
        self.run(parameters, streams).lines().map(verdict).collect()
    }

    /// What it prints, with these parameters.
    pub(crate) fn run(&self, parameters: &[u64], input: &str) -> String {
        let mut command = Command::new(&self.program);
        command
            .args(parameters.iter().map(u64::to_string))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input.as_bytes()).unwrap());
            child.wait_with_output().unwrap()
        });
        assert!(output.status.success(), "{:?}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }
}

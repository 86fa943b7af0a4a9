//! Why the kernel refused a program, in one sentence.
//!
//! The kernel answers with an error number. What it means stands in the verifier's log, which
//! libbpf prints. It is collected here instead.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::PrintLevel;

use super::KernelError;

/// What libbpf has said since [`listen`].
static SAID: Mutex<String> = Mutex::new(String::new());

/// Collects what libbpf says from now on.
pub(crate) fn listen() {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
    libbpf_rs::set_print(Some((PrintLevel::Warn, |_, text| {
        SAID.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
    })));
}

/// The error, with the verifier's last word.
pub(crate) fn refused(
    name: &'static str,
    step: &'static str,
    error: &libbpf_rs::Error,
) -> KernelError {
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let error = match last_word(&said) {
        Some(word) => format!("{error}: {word}"),
        None => error.to_string(),
    };
    KernelError::Refused { name, step, error }
}

/// The line before the verifier's statistics; without a verifier's log, libbpf's first line.
fn last_word(said: &str) -> Option<&str> {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let end = lines.iter().position(|line| {
        line.starts_with("processed ") || line.starts_with("-- END PROG LOAD LOG")
    });
    let word = match end {
        Some(end) if end > 0 => lines[end - 1],
        _ => *lines.first()?,
    };
    Some(word.strip_prefix("libbpf: ").unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifier_s_last_word_stands_before_its_statistics() {
        let said = "libbpf: prog 'lc_init': BPF program load failed: Permission denied\n\
                    libbpf: prog 'lc_init': -- BEGIN PROG LOAD LOG --\n\
                    0: R1=ctx() R10=fp0\n\
                    no write support to tcp_sock at off 1904\n\
                    processed 3 insns (limit 1000000) max_states_per_insn 0\n\
                    -- END PROG LOAD LOG --\n";
        assert_eq!(last_word(said), Some("no write support to tcp_sock at off 1904"));
        let without_log = "libbpf: extern (func ksym) 'cubictcp_init': not found in kernel or module BTFs\n\
                           libbpf: failed to load object\n";
        assert_eq!(
            last_word(without_log),
            Some("extern (func ksym) 'cubictcp_init': not found in kernel or module BTFs")
        );
        assert_eq!(last_word(""), None);
    }
}

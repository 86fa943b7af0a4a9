//! A systemd unit that loads a program at boot, before `systemd-sysctl.service` sets the default congestion control.

use super::Settings;

/// Where units of the administrator belong.
pub const UNIT_DIR: &str = "/etc/systemd/system";

/// The name of the unit for these settings and its text. `program` are the words that start the
/// command `losscause`, `settings` are the `KEY=VALUE` pairs that `--set` got.
pub fn unit(
    program: &[String],
    loaded: &Settings,
    settings: &[String],
    allow_unprivileged: bool,
) -> (String, String) {
    let name = loaded.algorithm().name;
    let program = program.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let mut command = format!("{program} kernel load {name}");
    for setting in settings {
        command += &format!(" --set {}", quoted(setting));
    }
    if allow_unprivileged {
        command += " --allow-unprivileged";
    }
    let text = format!(
        "[Unit]\n\
         Description=TCP congestion control {name}\n\
         DefaultDependencies=no\n\
         After=local-fs.target systemd-modules-load.service\n\
         Before=systemd-sysctl.service network-pre.target\n\
         Wants=network-pre.target\n\
         ConditionPathExists=/sys/kernel/btf/vmlinux\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         ExecStart={command}\n\
         ExecStop={program} kernel unload {name} --force\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    );
    (format!("losscause-{}.service", name.replace('_', "-")), text)
}

/// A word of a unit's command line: in quotes, with what systemd would replace doubled.
fn quoted(word: &str) -> String {
    let doubled =
        word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    if doubled.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'') {
        format!("\"{doubled}\"")
    } else {
        doubled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Algorithm;

    #[test]
    fn a_unit_loads_with_the_same_settings_and_unloads() {
        let spike = Algorithm::find("lc_spike").expect("there is one").settings();
        let program = ["/opt/my tools/losscause".to_owned()];
        let (name, text) = unit(&program, &spike, &["alpha=0.4".to_owned()], true);
        assert_eq!(name, "losscause-lc-spike.service");
        let load = "ExecStart=\"/opt/my tools/losscause\" kernel load lc_spike --set alpha=0.4 --allow-unprivileged\n";
        assert!(text.contains(load), "{text}");
        assert!(text.contains("\nBefore=systemd-sysctl.service network-pre.target\n"), "{text}");
        assert!(
            text.contains("ExecStop=\"/opt/my tools/losscause\" kernel unload lc_spike --force\n"),
            "{text}"
        );
    }

    #[test]
    fn what_systemd_would_replace_is_doubled() {
        assert_eq!(quoted("50%$x"), "50%%$$x");
    }
}

//! A systemd unit that loads a program at boot, before `systemd-sysctl.service` sets the default
//! congestion control; a trial after it, because it takes the place of that default.

use super::{Options, Settings, Trial};

/// Where units of the administrator belong.
pub const UNIT_DIR: &str = "/etc/systemd/system";

/// The name of the unit for these settings and its text. `program` are the words that start the
/// command `losscause`, `settings` are the `KEY=VALUE` pairs that `--set` got.
pub fn unit(
    program: &[String],
    loaded: &Settings,
    settings: &[String],
    options: &Options,
) -> (String, String) {
    let name = loaded.algorithm().name;
    let program = program.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let mut command = format!("{program} kernel load {name}");
    for setting in settings {
        command += &format!(" --set {}", quoted(setting));
    }
    if options.allow_unprivileged {
        command += " --allow-unprivileged";
    }
    for argument in options.trial.iter().flat_map(Trial::arguments) {
        command += &format!(" {}", quoted(&argument));
    }
    let [after, before] = match options.trial {
        Some(_) => ["systemd-sysctl.service", ""],
        None => ["systemd-modules-load.service", "systemd-sysctl.service "],
    };
    let text = format!(
        "[Unit]\n\
         Description=TCP congestion control {name}\n\
         DefaultDependencies=no\n\
         After=local-fs.target {after}\n\
         Before={before}network-pre.target\n\
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
        let options = Options { allow_unprivileged: true, trial: None };
        let settings = ["alpha=0.4".to_owned()];
        let (name, text) = unit(&program, &spike, &settings, &options);
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
    fn a_unit_of_a_trial_loads_it_behind_the_default() {
        let spike = Algorithm::find("lc_spike").expect("there is one").settings();
        let trial = Trial::new(&["port=443", "cgroup=/sys/fs/cgroup/a b"], 0.07).expect("filters");
        let options = Options { allow_unprivileged: false, trial: Some(trial) };
        let (_, text) = unit(&["/usr/bin/losscause".to_owned()], &spike, &[], &options);
        let load = " kernel load lc_spike --only port=443 --only \"cgroup=/sys/fs/cgroup/a b\" --share 7%%\n";
        assert!(text.contains(load), "{text}");
        let order = "\nAfter=local-fs.target systemd-sysctl.service\nBefore=network-pre.target\n";
        assert!(text.contains(order), "{text}");
    }

    #[test]
    fn what_systemd_would_replace_is_doubled() {
        assert_eq!(quoted("50%$x"), "50%%$$x");
    }
}

//! What is compared: the scenario with some settings.

use losscause_study::scenario::NO_LDA;
use losscause_study::scenario::format::{Flow, Protocol};
use losscause_study::{InputError, Scenario, Setting};

/// A scenario with settings, under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The variant's name, which tells it from the others of a comparison.
    pub name: String,
    /// What it sets.
    pub settings: Vec<Setting>,
}

impl Variant {
    /// The scenario as it is.
    pub fn unchanged() -> Self {
        Self { name: "unchanged".to_owned(), settings: Vec::new() }
    }

    /// The variants, the unchanged scenario first: that among them under its own name, otherwise one
    /// more.
    pub fn beside_unchanged(mut variants: Vec<Self>) -> Vec<Self> {
        match variants.iter().position(|variant| variant.settings.is_empty()) {
            Some(place) => variants[..=place].rotate_right(1),
            None => variants.insert(0, Self::unchanged()),
        }
        variants
    }

    /// Reads `NAME: KEY=VALUE; KEY=VALUE`, or `KEY=VALUE`, which is its own name, or `NAME: {}`, the
    /// scenario as it is.
    ///
    /// # Errors
    /// The name or a setting is missing, or a setting cannot be read.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let problem = |problem: &str| {
            InputError::option(
                format!("--variant {text}"),
                format!(
                    "{problem}, expected \"NAME: KEY=VALUE; KEY=VALUE\", or \"NAME: {{}}\" for no change"
                ),
            )
        };
        // A colon after the first "=" is part of a value.
        let named = text.split_once(':').filter(|(name, _)| !name.contains('='));
        let (name, settings) = named.unwrap_or((text, text));
        let name = name.trim();
        if name.is_empty() {
            return Err(problem("the name is empty"));
        }
        if settings.trim() == NOTHING {
            let name = if name == NOTHING { Self::unchanged().name } else { name.to_owned() };
            return Ok(Self { name, settings: Vec::new() });
        }
        let settings: Vec<&str> =
            settings.split(';').map(str::trim).filter(|part| !part.is_empty()).collect();
        if settings.is_empty() {
            return Err(problem("there is no setting"));
        }
        let parse = |setting: &str| {
            Setting::parse(setting).map_err(|error| match error {
                InputError::Option { problem, .. } => InputError::option(
                    format!("--variant {text}"),
                    format!("in {setting}, {problem}"),
                ),
                error => error,
            })
        };
        let settings = settings.into_iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), settings })
    }

    /// The scenario in which all measured flows run the algorithm `lda`. `none` stands for no
    /// algorithm: every loss counts as congestion.
    ///
    /// # Errors
    /// There is no such algorithm, or the scenario measures no flow.
    pub fn of_lda(scenario: &Scenario, lda: &str) -> Result<Self, InputError> {
        let flows = scenario.document().flow.iter();
        let measured = flows.filter(|flow| flow.is_measured());
        let algorithm = if lda == "none" { NO_LDA } else { scenario.algorithm_named(lda)? };
        let settings: Vec<Setting> = measured
            .map(|flow| Setting::new(format!("flow.{}.lda", flow.name), algorithm))
            .collect();
        if settings.is_empty() {
            return Err(InputError::option(
                format!("--lda {lda}"),
                format!(
                    "{} measures no flow that could take an algorithm, expected a flow with measured = true",
                    scenario.file()
                ),
            ));
        }
        Ok(Self { name: lda.to_owned(), settings })
    }

    /// The variant as the command takes it.
    pub(super) fn word(&self) -> String {
        let settings: Vec<String> = self.settings.iter().map(ToString::to_string).collect();
        let settings = if settings.is_empty() { NOTHING.to_owned() } else { settings.join("; ") };
        format!("{}: {settings}", self.name)
    }

    /// The scenario as it is, and with what a Linux or QUIC sender can be switched to in every
    /// measured TCP flow.
    ///
    /// # Errors
    /// The scenario measures no TCP flow.
    pub fn all(scenario: &Scenario) -> Result<Vec<Self>, InputError> {
        let flows = scenario.document().flow.iter();
        let measured: Vec<&Flow> =
            flows.filter(|flow| flow.is_measured() && flow.protocol == Protocol::Tcp).collect();
        if measured.is_empty() {
            return Err(InputError::option(
                "--all",
                format!("{} measures no TCP flow, expected one", scenario.file()),
            ));
        }
        let switched = SENDERS.iter().map(|(name, variant, lda)| Self {
            name: (*name).to_owned(),
            settings: measured.iter().flat_map(|flow| switched(flow, variant, lda)).collect(),
        });
        Ok([Self::unchanged()].into_iter().chain(switched).collect())
    }
}

/// What stands for no setting.
const NOTHING: &str = "{}";

/// The settings that switch a flow to this TCP and algorithm.
fn switched(flow: &Flow, variant: &str, lda: &str) -> Vec<Setting> {
    let set = |key: &str, value: &str| Setting::new(format!("flow.{}.{key}", flow.name), value);
    let mut settings = vec![set("variant", variant)];
    if lda != NO_LDA || flow.lda.is_some() {
        settings.push(set("lda", lda));
    }
    settings
}

/// What a sender can be switched to: the name, the TCP and the algorithm. The kernel's programs and
/// the QUIC controllers put an algorithm in front of CUBIC and Reno. Those that mode linux has.
const SENDERS: [(&str, &str, &str); 7] = [
    ("cubic", "cubic", NO_LDA),
    ("reno", "reno", NO_LDA),
    ("bbr", "bbr", NO_LDA),
    ("cubic with Sift", "cubic", "Sift"),
    ("reno with Sift", "reno", "Sift"),
    ("cubic with Spike", "cubic", "Spike"),
    ("cubic with ZBS", "cubic", "ZBS"),
];

#[cfg(test)]
mod tests {
    use losscause_study::Context;

    use super::*;

    /// Two measured flows and another.
    const FLOWS: &str = r#"
        title = "t"
        duration_s = 1
        link = [{ name = "a", rate_bps = 1e6, delay_ms = 1, queue_packets = 9 }]
        flow = [
            { name = "up", protocol = "tcp", path = ["a"] },
            { name = "call", protocol = "cbr", rate_bps = 1e5, measured = true, path = ["a"] },
            { name = "cross", protocol = "cbr", rate_bps = 1e5, path = ["a"] },
        ]
    "#;

    fn settings(variant: &Variant) -> Vec<String> {
        variant.settings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_variant_is_a_name_and_settings_or_a_self_naming_setting() {
        let variant =
            Variant::parse("new: tcp.variant=cubic; link.a.queue={ kind = \"pie\" }").unwrap();
        assert_eq!(variant.name, "new");
        assert_eq!(settings(&variant), ["tcp.variant=cubic", "link.a.queue={ kind = \"pie\" }"]);
        let variant = Variant::parse("tcp.variant=cubic").unwrap();
        assert_eq!(
            (variant.name.as_str(), settings(&variant)),
            ("tcp.variant=cubic", vec!["tcp.variant=cubic".into()])
        );
    }

    #[test]
    fn the_unchanged_scenario_comes_first_and_may_have_a_name() {
        let named = |texts: &[&str]| {
            let variants = texts.iter().map(|text| Variant::parse(text).unwrap()).collect();
            let variants = Variant::beside_unchanged(variants);
            assert!(variants[0].settings.is_empty());
            variants.into_iter().map(|variant| variant.name).collect::<Vec<_>>()
        };
        assert_eq!(named(&["a: N=1", "b: N=2"]), ["unchanged", "a", "b"]);
        assert_eq!(named(&["a: N=1", "today: {}", "b: N=2"]), ["today", "a", "b"]);
        assert_eq!(named(&["{}", "a: N=1"]), ["unchanged", "a"]);
    }

    #[test]
    fn all_of_them_switch_every_measured_tcp_flow() {
        let scenario = Scenario::parse(FLOWS, "s.toml", &Context::default()).unwrap();
        let all = Variant::all(&scenario).unwrap();
        let names: Vec<&str> = all.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names[..4], ["unchanged", "cubic", "reno", "bbr"]);
        assert_eq!(settings(&all[4]), ["flow.up.variant=cubic", "flow.up.lda=Sift"]);
        let no_tcp = FLOWS.replace("\"tcp\"", "\"tfrc\"");
        let no_tcp = Scenario::parse(&no_tcp, "s.toml", &Context::default()).unwrap();
        assert_eq!(
            Variant::all(&no_tcp).unwrap_err().to_string(),
            "--all: s.toml measures no TCP flow, expected one"
        );
    }

    #[test]
    fn a_variant_without_name_or_setting_is_refused_in_a_sentence() {
        let refusal = |text: &str| Variant::parse(text).unwrap_err().to_string();
        let expected = "expected \"NAME: KEY=VALUE; KEY=VALUE\", or \"NAME: {}\" for no change";
        assert_eq!(refusal(": N=1"), format!("--variant : N=1: the name is empty, {expected}"));
        assert_eq!(refusal("new:"), format!("--variant new:: there is no setting, {expected}"));
        assert_eq!(
            refusal("cubic"),
            "--variant cubic: in cubic, there is no \"=\", expected KEY=VALUE"
        );
    }

    #[test]
    fn an_algorithm_goes_to_measured_flows_none_means_congestion() {
        let scenario = Scenario::parse(FLOWS, "s.toml", &Context::default()).unwrap();
        let with = |lda| settings(&Variant::of_lda(&scenario, lda).unwrap());
        assert_eq!(with("ZBS"), ["flow.up.lda=ZBS", "flow.call.lda=ZBS"]);
        assert_eq!(with("none")[0], "flow.up.lda=always congestion");
        let nothing = Scenario::parse(
            &FLOWS.replace("\"tcp\"", "\"tcp\", measured = false"),
            "s.toml",
            &Context::default(),
        )
        .unwrap();
        let nothing = nothing.with(&[Setting::new("flow.call.measured", false)]).unwrap();
        assert_eq!(
            Variant::of_lda(&nothing, "ZBS").unwrap_err().to_string(),
            "--lda ZBS: s.toml measures no flow that could take an algorithm, expected a flow with measured = true"
        );
    }
}

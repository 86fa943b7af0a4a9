//! The scenarios that `dumbbell.tcl` can run, and its options for them.

use losscause::lda::Constant;
use losscause::{AnyAlgorithm, Time, Verdict};
use losscause_sim::{
    ChannelSpec, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, TcpLda, Traffic,
};
use losscause_study::{Experiment, InputError};
use losscause_transport::tcp::{self, Variant};
use losscause_transport::tfrc;

use super::Errors;

/// Senders, a bottleneck and receivers, with the protocols of ns-2.35.
pub(super) struct Dumbbell<'a> {
    /// The measured flows.
    flows: Vec<&'a FlowSpec>,
    bottleneck: &'a LinkSpec,
    /// The link from the first sender; those of the others and of the receivers are like it.
    access: &'a LinkSpec,
    protocol: Protocol<'a>,
    /// Rate and size of other packets on the link to each receiver.
    cross: Option<(u64, u32)>,
    end: Time,
    errors: Errors,
}

/// A protocol in its ns-2 mode.
enum Protocol<'a> {
    Tcp(&'static str, &'a tcp::Config),
    Tfrc(&'a tfrc::Config),
}

/// The queues of all links but the bottleneck, packets.
const UNLIMITED: u32 = 100_000;

/// What is wrong with a scenario, by the name of the part that is.
fn refuse(part: &str, problem: &str) -> InputError {
    InputError::option(format!("{part}, in ns-2"), problem)
}

impl<'a> Dumbbell<'a> {
    /// The dumbbell of a scenario.
    ///
    /// # Errors
    /// It is another network, or has flows that ns-2 does not have or `dumbbell.tcl` does not make.
    pub(super) fn of(experiment: &'a Experiment, errors: Errors) -> Result<Self, InputError> {
        let network = &experiment.network;
        if experiment.window != (Time::ZERO, experiment.duration) {
            return Err(refuse("measure", "has a window, expected the whole run"));
        }
        let (flows, others): (Vec<&FlowSpec>, Vec<&FlowSpec>) =
            network.flows.iter().partition(|flow| flow.measured);
        let Some(first) = flows.first() else {
            return Err(refuse("flow", "none is measured, expected one or more"));
        };
        let ([up, bottleneck, _], [_, back, _]) = hops(first)?;
        let [access, bottleneck, back] = [up, bottleneck, back].map(|link| link_of(network, link));
        for flow in &flows {
            let ([up, middle, down], [up_back, middle_back, down_back]) = hops(flow)?;
            let same_middle = [(middle, bottleneck), (middle_back, back)];
            if same_middle.iter().any(|(link, one)| link_of(network, *link) != *one) {
                return Err(refuse(&flow.name, "does not share the bottleneck, expected one"));
            }
            for link in [up, down, up_back, down_back].map(|link| link_of(network, link)) {
                expect_wired(link, access)?;
            }
            if format!("{:?}", flow.traffic) != format!("{:?}", first.traffic) {
                return Err(refuse(&flow.name, "has another protocol, expected one for all"));
            }
            let plain =
                FlowSpec::new(&*flow.name, &flow.path, &flow.return_path, flow.traffic.clone());
            let plain = FlowSpec { start: flow.start, start_spread: flow.start_spread, ..plain };
            expect_same(&flow.name, *flow, &plain)?;
        }
        expect_wired(back, bottleneck)?;
        let is_plain = LinkSpec {
            channel: bottleneck.channel.clone(),
            ..LinkSpec::wired(
                &*bottleneck.name,
                bottleneck.rate_bps,
                bottleneck.delay,
                bottleneck.queue,
            )
        };
        expect_same(&bottleneck.name, bottleneck, &is_plain)?;
        let dumbbell = Self {
            bottleneck,
            access,
            protocol: Protocol::of(first)?,
            cross: cross(&flows, &others)?,
            flows,
            end: experiment.duration,
            errors,
        };
        dumbbell.queue()?;
        dumbbell.check_channel()?;
        Ok(dumbbell)
    }

    pub(super) fn is_tcp(&self) -> bool {
        matches!(self.protocol, Protocol::Tcp(..))
    }

    /// Payload of a data packet.
    pub(super) fn payload_bytes(&self) -> u32 {
        match &self.protocol {
            Protocol::Tcp(_, config) => config.payload_bytes,
            Protocol::Tfrc(config) => config.payload_bytes,
        }
    }

    /// From the first start to the end, seconds.
    pub(super) fn seconds(&self, seed: u64) -> f64 {
        let starts = self.flows.iter().map(|flow| flow.starts_at(seed));
        (self.end - starts.min().unwrap_or(Time::ZERO)).as_secs_f64()
    }

    /// The options of `dumbbell.tcl` for a run with this seed.
    pub(super) fn options(&self, seed: u64) -> Vec<String> {
        let starts: Vec<String> = self
            .flows
            .iter()
            .map(|flow| format!("{:.9}", flow.starts_at(seed).as_secs_f64()))
            .collect();
        let rtt =
            2.0 * self.bottleneck.delay.as_millis_f64() + 4.0 * self.access.delay.as_millis_f64();
        let mut options = vec![
            ("-rate", self.bottleneck.rate_bps.to_string()),
            ("-rtt", rtt.to_string()),
            ("-flows", self.flows.len().to_string()),
            ("-starts", starts.join(" ")),
            ("-duration", self.end.as_secs_f64().to_string()),
            ("-size", self.payload_bytes().to_string()),
            ("-access-rate", self.access.rate_bps.to_string()),
            ("-access-ms", self.access.delay.as_millis_f64().to_string()),
            ("-seed", seed.to_string()),
        ];
        match &self.protocol {
            Protocol::Tfrc(_) => options.push(("-protocol", "tfrc".to_owned())),
            Protocol::Tcp(name, config) => options.extend([
                ("-protocol", (*name).to_owned()),
                ("-window", config.max_window_pkts.to_string()),
                ("-tick", config.quirks.tick.as_secs_f64().to_string()),
                ("-minrto", config.min_rto.as_secs_f64().to_string()),
            ]),
        }
        options.extend(self.queue().into_iter().flatten());
        if let Some((rate_bps, bytes)) = self.cross {
            options.extend([
                ("-cross-rate", rate_bps.to_string()),
                ("-cross-bytes", bytes.to_string()),
            ]);
        }
        options.extend(self.losses(seed));
        options.into_iter().flat_map(|(option, value)| [option.to_owned(), value]).collect()
    }

    /// The options of the bottleneck's queue. ns-2 counts the packet in transmission.
    ///
    /// # Errors
    /// `dumbbell.tcl` does not have it.
    fn queue(&self) -> Result<Vec<(&'static str, String)>, InputError> {
        let name = &self.bottleneck.name;
        let limit = |limit: Limit| match limit {
            Limit::Packets(packets) => Ok(("-queue", (packets + 1).to_string())),
            Limit::Bytes(_) => Err(refuse(name, "has a queue in bytes, expected packets")),
        };
        match self.bottleneck.queue {
            QueueSpec::DropTail { limit: packets } => Ok(vec![limit(packets)?]),
            // The script's mean_pktsize_ is a data packet of TCP.
            QueueSpec::Red(red)
                if red.like_ns2 && red.typical_packet_bytes == self.payload_bytes() + 40 =>
            {
                let gentle = u8::from(red.gentle);
                let [min_th, max_th] = [red.min_th_pkts, red.max_th_pkts];
                let values = format!("{min_th} {max_th} {} {} {gentle}", red.max_p, red.w_q);
                Ok(vec![limit(red.limit)?, ("-red", values)])
            }
            _ => Err(refuse(name, "has a queue that ns-2 lacks, expected drop-tail or its RED")),
        }
    }

    fn check_channel(&self) -> Result<(), InputError> {
        match (&self.bottleneck.channel, self.errors) {
            (ChannelSpec::Perfect | ChannelSpec::Bernoulli { .. }, _)
            | (
                ChannelSpec::GilbertElliott { .. } | ChannelSpec::Trace { .. },
                Errors::Simulators,
            ) => Ok(()),
            _ => Err(refuse(&self.bottleneck.name, "has other errors, expected independent ones")),
        }
    }

    /// The options of the errors.
    fn losses(&self, seed: u64) -> Vec<(&'static str, String)> {
        match (&self.bottleneck.channel, self.errors) {
            (ChannelSpec::Perfect, _) => vec![],
            (ChannelSpec::Bernoulli { loss }, Errors::Own) => {
                vec![("-loss-rate", loss.to_string()), ("-loss-seed", seed.to_string())]
            }
            _ => {
                let bits = self.bottleneck.rate_bps as f64 * self.end.as_secs_f64();
                // SYNs are smaller than other packets, so there are spare slots.
                let most = (bits / 8.0 / f64::from(self.payload_bytes())) as usize + 1000;
                let slots = self.bottleneck.slots_of_run(seed).take(most).enumerate();
                let bad: Vec<String> =
                    slots.filter(|(_, is_bad)| *is_bad).map(|(slot, _)| slot.to_string()).collect();
                vec![("-losses", bad.join(" "))]
            }
        }
    }
}

impl<'a> Protocol<'a> {
    fn of(flow: &'a FlowSpec) -> Result<Self, InputError> {
        match &flow.traffic {
            Traffic::Tcp { config, lda: TcpLda::None } => {
                let base = tcp::Config::ns2();
                let quirks = tcp::Quirks { tick: config.quirks.tick, ..base.quirks };
                let &tcp::Config { payload_bytes, max_window_pkts, min_rto, .. } = config;
                let like = tcp::Config { payload_bytes, max_window_pkts, min_rto, quirks, ..base };
                let variants = [
                    (Variant::Reno, "reno"),
                    (Variant::NewReno, "newreno"),
                    (Variant::Sack, "sack"),
                    (Variant::Vegas, "vegas"),
                ];
                let is_it = |(variant, _): &(Variant, _)| like.with_variant(*variant) == *config;
                let found = variants.into_iter().find(is_it);
                let expected =
                    "is TCP with other rules, expected mode ns2 and reno, newreno, sack or vegas";
                found
                    .map(|(_, name)| Self::Tcp(name, config))
                    .ok_or_else(|| refuse(&flow.name, expected))
            }
            Traffic::Tfrc { config, lda } => {
                let like =
                    tfrc::Config { payload_bytes: config.payload_bytes, ..tfrc::Config::ns2() };
                let none = AnyAlgorithm::Constant(Constant::new(Verdict::Congestion));
                if *config != like || format!("{lda:?}") != format!("{none:?}") {
                    return Err(refuse(
                        &flow.name,
                        "is TFRC with other rules, expected mode ns2 without an algorithm",
                    ));
                }
                Ok(Self::Tfrc(config))
            }
            _ => Err(refuse(&flow.name, "has traffic that ns-2 lacks here, expected TCP or TFRC")),
        }
    }
}

/// The links of a flow there and back, three each.
fn hops(flow: &FlowSpec) -> Result<([LinkId; 3], [LinkId; 3]), InputError> {
    let three = |path: &[LinkId]| <[LinkId; 3]>::try_from(path).ok();
    three(&flow.path).zip(three(&flow.return_path)).ok_or_else(|| {
        refuse(&flow.name, "crosses another number of links, expected three each way")
    })
}

fn link_of(network: &Network, link: LinkId) -> &LinkSpec {
    &network.links[link.0 as usize]
}

/// Refuses a link that is no unlimited wire of the rate and delay of another one.
fn expect_wired(link: &LinkSpec, like: &LinkSpec) -> Result<(), InputError> {
    let queue = QueueSpec::DropTail { limit: Limit::Packets(UNLIMITED) };
    expect_same(&link.name, link, &LinkSpec::wired(&*link.name, like.rate_bps, like.delay, queue))
}

/// Refuses what is not as `dumbbell.tcl` has it.
fn expect_same<T: std::fmt::Debug>(name: &str, is: &T, expected: &T) -> Result<(), InputError> {
    let [is, expected] = [is, expected].map(|side| format!("{side:?}"));
    if is == expected {
        Ok(())
    } else {
        Err(refuse(name, &format!("is {is}, expected {expected}")))
    }
}

/// Rate and size of the other packets on the link to every receiver.
fn cross(flows: &[&FlowSpec], others: &[&FlowSpec]) -> Result<Option<(u64, u32)>, InputError> {
    let Some(first) = others.first() else { return Ok(None) };
    let Traffic::Cbr { rate_bps, packet_bytes, lda: None } = first.traffic else {
        return Err(refuse(&first.name, "is not measured, expected traffic at a constant rate"));
    };
    if others.len() != flows.len() {
        return Err(refuse(&first.name, "does not cross every receiver's link, expected one each"));
    }
    for (flow, other) in flows.iter().zip(others) {
        let plain = FlowSpec::new(&*other.name, &flow.path[2..], &[], first.traffic.clone());
        expect_same(&other.name, *other, &FlowSpec { measured: false, ..plain })?;
    }
    Ok(Some((rate_bps, packet_bytes)))
}

#[cfg(test)]
mod tests {
    use losscause_study::{Context, Scenario, Setting};

    use super::*;

    const SCENARIO: &str = r#"
        title = "two flows"
        duration_s = 20
        send_jitter_us = 0
        [parameters]
        cross = 0
        [tcp]
        mode = "ns2"
        [tfrc]
        mode = "ns2"
        [[link]]
        name = "bottleneck"
        rate_bps = 800e3
        delay_ms = 18
        queue_packets = 7
        channel = { kind = "bernoulli", loss = 0.01 }
        [[link]]
        name = "back"
        rate_bps = 800e3
        delay_ms = 18
        queue_packets = 100000
        [[link]]
        name = "out"
        per_flow = true
        rate_bps = 10e6
        delay_ms = 1
        queue_packets = 100000
        [[link]]
        name = "in"
        per_flow = true
        rate_bps = 10e6
        delay_ms = 1
        queue_packets = 100000
        [[link]]
        name = "out-back"
        per_flow = true
        rate_bps = 10e6
        delay_ms = 1
        queue_packets = 100000
        [[link]]
        name = "in-back"
        per_flow = true
        rate_bps = 10e6
        delay_ms = 1
        queue_packets = 100000
        [[flow]]
        name = "flow"
        count = 2
        protocol = "tcp"
        variant = "newreno"
        path = ["out", "bottleneck", "in"]
        return_path = ["in-back", "back", "out-back"]
        start_spread_s = 1
        [[flow]]
        name = "cross"
        count = "2 * cross"
        protocol = "cbr"
        path = ["in"]
        links_of = "flow"
        rate_bps = 1e6
        packet_bytes = 1500
    "#;

    fn experiment(settings: &[&str]) -> Experiment {
        let scenario = Scenario::parse(SCENARIO, "s.toml", &Context::default()).unwrap();
        let settings: Vec<Setting> =
            settings.iter().map(|text| Setting::parse(text).unwrap()).collect();
        scenario.with(&settings).unwrap().experiment().unwrap()
    }

    /// The value of an option of the run with seed 3.
    fn option(settings: &[&str], errors: Errors, option: &str) -> Option<String> {
        let experiment = experiment(settings);
        let options = Dumbbell::of(&experiment, errors).unwrap().options(3);
        let place = options.iter().position(|text| text == option)?;
        Some(options[place + 1].clone())
    }

    #[test]
    fn a_script_has_the_values_of_the_scenario() {
        let value = |of: &str| option(&["cross=1"], Errors::Simulators, of).unwrap();
        assert_eq!(
            ["-protocol", "-rate", "-rtt", "-queue", "-flows", "-size", "-tick"].map(value),
            ["newreno", "800000", "40", "8", "2", "1000", "0.01"]
        );
        assert_eq!(["-cross-rate", "-cross-bytes"].map(value), ["1000000", "1500"]);
        let red = "link.bottleneck.queue={ kind = 'red', min_th_packets = 5, max_th_packets = 15, max_p = 0.1, w_q = 0.002, \
                   gentle = true, like_ns2 = true, typical_packet_bytes = 1040 }";
        let red = option(&[red], Errors::Simulators, "-red");
        assert_eq!(red.unwrap(), "5 15 0.1 0.002 1");
    }

    #[test]
    fn starts_and_errors_are_the_simulators() {
        let experiment = experiment(&[]);
        let starts = option(&[], Errors::Simulators, "-starts").unwrap();
        let first = experiment.network.flows[0].starts_at(3).as_secs_f64();
        assert!(starts.starts_with(&format!("{first:.9} ")), "{starts}");
        let losses = option(&[], Errors::Simulators, "-losses").unwrap();
        // Of 3000 slots.
        assert!((15..45).contains(&losses.split(' ').count()), "{losses}");
        let own = |of: &str| option(&[], Errors::Own, of);
        assert_eq!(["-loss-rate", "-losses"].map(own), [Some("0.01".to_owned()), None]);
        let perfect = "link.bottleneck.channel={ kind = 'perfect' }";
        assert_eq!(option(&[perfect], Errors::Simulators, "-losses"), None);
    }

    #[test]
    fn what_ns2_would_not_do_alike_is_refused() {
        let refused = |setting: &str, errors| {
            let experiment = experiment(&[setting]);
            Dumbbell::of(&experiment, errors).err().unwrap().to_string()
        };
        for (setting, problem) in [
            ("tcp.mode=rfc", "flow.1, in ns-2: is TCP with other rules, expected"),
            ("flow.flow.lda=Spike", "flow.1, in ns-2: has traffic that ns-2 lacks"),
            ("flow.flow.stop_s=10", "flow.1, in ns-2: is FlowSpec"),
            ("link.bottleneck.queue={ kind = 'codel' }", "bottleneck, in ns-2: has a queue"),
            ("link.in.queue_packets=9", "in.1, in ns-2: is LinkSpec"),
            ("flow.flow.path=['bottleneck']", "flow.1, in ns-2: crosses another number of links"),
            ("measure.from_s=1", "measure, in ns-2: has a window"),
        ] {
            let text = refused(setting, Errors::Simulators);
            assert!(text.starts_with(problem), "{text}");
        }
        let bursts = "link.bottleneck.channel={ kind = 'gilbert-elliott', loss = 0.01, mean_burst_packets = 3 }";
        assert!(refused(bursts, Errors::Own).contains("expected independent ones"));
    }
}

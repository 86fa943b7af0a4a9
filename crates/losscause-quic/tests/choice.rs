//! Which algorithm, within which caps, and why not.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use common::{Connection, Scripted, TRANSPORT, at};
use losscause::Needs;
use losscause::lda::AsTold;
use losscause::registry::Registry;
use losscause::{AnyAlgorithm, Span};
use losscause_quic::{Caps, Choice, Error, Transport};

fn spike(start_ms: i64, end_ms: i64, transport: &Transport) -> Result<Choice, Error> {
    Choice::spike_between(Span::from_millis(start_ms), Span::from_millis(end_ms), transport)
}

#[test]
fn an_algorithm_is_found_by_any_name_or_all_names_are_listed() {
    let registry = Registry::built_in();
    for (name, algorithm) in
        [("spike", "Spike"), ("Spike-Tobe", "Spike-Tobe"), ("tobe", "Spike-Tobe")]
    {
        assert_eq!(Choice::named(name, &registry, &TRANSPORT).unwrap().algorithm(), algorithm);
    }
    let error = Choice::named("spyke", &registry, &TRANSPORT).unwrap_err();
    assert!(
        matches!(&error, Error::UnknownAlgorithm { name, known } if name == "spyke" && known.len() > 10)
    );
    assert!(
        error
            .to_string()
            .starts_with("there is no algorithm \"spyke\"; there are Biaz, mBiaz, Spike, "),
        "{error}"
    );
}

#[test]
fn an_algorithm_that_needs_more_than_is_given_is_refused() {
    let error = Choice::new(AnyAlgorithm::AsTold(AsTold), &TRANSPORT).unwrap_err();
    let expected =
        "as told needs the receiver's label, which a test does not give to a congestion controller";
    assert_eq!(error.to_string(), expected);
    let nothing = Transport { provided: Needs::NONE, ..TRANSPORT };
    let error = spike(10, 5, &nothing).unwrap_err();
    assert!(
        error.to_string().starts_with("Spike-Tobe needs the delay of every arrival"),
        "{error}"
    );
}

#[test]
fn parameters_and_caps_out_of_range_are_refused_with_the_range() {
    let error = spike(1, 2, &TRANSPORT).unwrap_err();
    assert!(matches!(error, Error::Setting(_)), "{error}");
    let choice = spike(10, 5, &TRANSPORT).unwrap();
    let error = choice.with_caps(Caps { max_loss_rate: -1.0, ..Caps::default() }).unwrap_err();
    assert_eq!(error.to_string(), "max_loss_rate is -1 but must be a number from 0 to 1");
}

#[test]
fn settings_reach_the_controllers() {
    let caps = Caps { max_run: 7, ..Caps::default() };
    let choice = spike(10, 5, &TRANSPORT).unwrap().with_caps(caps).unwrap();
    assert_eq!((choice.caps(), choice.memory_pkts()), (caps, 65_536));
    assert_eq!(Connection::new(&choice).losses.caps(), caps);
    // 256 packets at least.
    let mut small = Connection::new(&choice.with_memory_pkts(1));
    small.send(1000);
    assert_eq!(small.sender.in_flight_pkts(), 256);
}

#[test]
fn controllers_share_settings_and_monitor_and_nothing_else() {
    let choice = Scripted::default().choice();
    let mut first = Connection::with_ten_acked(&choice);
    let second = Connection::new(&choice.clone());
    first.lose(60, [10]);
    assert_eq!((first.losses.connection(), second.losses.connection()), (0, 1));
    assert_eq!((second.losses.counts().congestion, choice.monitor().totals().congestion), (0, 1));
    assert_eq!((second.sender.latest_rtt(), first.sender.latest_rtt().unwrap().0), (None, at(59)));
}

//! What the feature `serde` writes is stable: whole nanoseconds, and the names of the variants.

use losscause::{Signal, Span, Time, Verdict};

#[test]
fn times_are_whole_nanoseconds_and_answers_are_words() {
    let json = serde_json::to_string(&(
        Time::from_nanos(1_500),
        Span::from_millis(-2),
        [Verdict::Wireless, Verdict::Undecided],
        Signal::PersistentCongestion,
    ))
    .expect("plain values");
    assert_eq!(json, r#"[1500,-2000000,["Wireless","Undecided"],"PersistentCongestion"]"#);
    let back: (Time, Span, [Verdict; 2], Signal) =
        serde_json::from_str(&json).expect("what was written");
    assert_eq!((back.0, back.3), (Time::from_nanos(1_500), Signal::PersistentCongestion));
    assert!(serde_json::from_str::<Verdict>("\"maybe\"").is_err());
}

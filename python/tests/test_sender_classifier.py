"""A classifier at a sender gives the verdicts of the command line, one by one and in columns."""

import csv
import io
from functools import partial

import losscause
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# Receivers' algorithms among them, which watch round-trip times at a sender. The class below stands in for an algorithm
# in a simulated sender, which tells classes in Python of no recovery's end and asks them about one loss per window; so those
# that need more are left out.
AT_SENDERS = ["Flip Flop", "Vegas buffer", "Veno", "Spike", "ZBS", "Biaz", "mBiaz", "ZigZag"]


def _mirror(name):
    """A class that lets a classifier judge, and keeps what it got and what it said."""

    class Mirror:
        seen: list = []
        judged: list = []

        def __init__(self):
            self.classifier = losscause.Classifier(name, end="sender")
            Mirror.seen, Mirror.judged = [], []

        needs = ["acks"]

        def observe(self, observation):
            Mirror.seen.append(observation)
            self.classifier.observe(observation)

        def on_loss(self, loss):
            Mirror.seen.append(loss)
            self.judgement = self.classifier.on_loss(loss)

        def judge(self, loss):
            Mirror.judged.append((self.judgement.verdict, self.judgement.reason))
            return self.judgement.verdict

    return Mirror


def _scenario(loss, rate_kbps, queue, variant):
    return f"""
title = "one transfer"
duration_s = 20
measure = {{ bottleneck = "radio" }}
[[link]]
name = "radio"
rate_bps = {rate_kbps * 1000}
delay_ms = 20
queue_packets = {queue}
channel = {{ kind = "bernoulli", loss = {loss} }}
[[flow]]
name = "file"
protocol = "tcp"
variant = "{variant}"
path = ["radio"]
measured = true
"""


def _traced(losscause_command, file, seed, name):
    """The verdicts that the command traces: when, of which packet, what and why."""
    arguments = ["--seed", str(seed), "--set", f"flow.file.lda={name}", "--trace", "-", "--trace-kind", "verdict"]
    rows = csv.DictReader(io.StringIO(losscause_command("simulate", str(file), *arguments)))
    return [(int(row["time_ns"]), int(row["seq"]), row["verdict"], row["reason"]) for row in rows]


def _columns(part):
    """Acknowledgements as columns, the loss after each of them in the same row."""
    rows = []
    for seen in part:
        if isinstance(seen, losscause.Observation):
            names = ["at_ns", "newly_acked_pkts", "missing_first", "missing_last", "in_flight_pkts", "cwnd_pkts"]
            row = {name: getattr(seen, name) for name in names} | {"rtt_ns": seen.delay_ns, "lost_pkts": 0}
            rows.append(row | {"spanned_pkts": seen.spanned, "newly_missing_pkts": seen.missing})
        else:
            rows[-1] |= {"lost_pkts": seen.lost_pkts, "lost_first": seen.first, "lost_last": seen.last}
            rows[-1] |= {"lost_sent_ns": seen.sent_at_ns}
    kinds = {"at_ns": pl.Int64, "rtt_ns": pl.Int64, "missing_first": pl.UInt64, "missing_last": pl.UInt64}
    kinds |= {"lost_first": pl.UInt64, "lost_last": pl.UInt64, "lost_sent_ns": pl.Int64, "cwnd_pkts": pl.Float64}
    counts = ["newly_acked_pkts", "spanned_pkts", "newly_missing_pkts", "in_flight_pkts", "lost_pkts"]
    return pl.DataFrame(rows, schema=kinds | dict.fromkeys(counts, pl.Int64))


@settings(max_examples=30, deadline=None, database=None)
@given(
    name=st.sampled_from(AT_SENDERS),
    loss=st.floats(0.0, 0.1),
    rate_kbps=st.integers(200, 2000),
    queue=st.integers(4, 40),
    variant=st.sampled_from(["sack", "newreno"]),
    seed=st.integers(0, 2**63 - 1),
)
def test_the_verdicts_are_those_of_the_command(
    losscause_command, tmp_path_factory, name, loss, rate_kbps, queue, variant, seed
):
    file = tmp_path_factory.mktemp("scenario") / "transfer.toml"
    file.write_text(_scenario(loss, rate_kbps, queue, variant))
    expected = _traced(losscause_command, file, seed, name)
    mirror = _mirror(name)
    # Another verdict would lead to another run.
    run = losscause.simulate(file, seed, trace=["verdict"], **{"flow.file.lda": mirror})
    words = pl.DataFrame(run.trace).with_columns(pl.col("verdict").cast(pl.String))
    assert words.select("time_ns", "seq", "verdict").rows() == [row[:3] for row in expected]
    reasons = dict.fromkeys((row[0], *row[2:]) for row in expected)
    assert {judged for judged in mirror.judged} >= {reason[1:] for reason in reasons}
    seen = mirror.seen

    # The same in columns, up to the first loss that no acknowledgement revealed or that is not alone with it.
    kept = []
    for before, one in zip([None, *seen], seen):
        is_loss = isinstance(one, losscause.Loss)
        if is_loss and (one.signal != "gap" or isinstance(before, losscause.Loss) or before is None):
            break
        if is_loss and (one.at_ns, one.in_flight_pkts, one.cwnd_pkts) != (
            before.at_ns,
            before.in_flight_pkts,
            before.cwnd_pkts,
        ):
            break
        kept.append(one)
    one_by_one = losscause.Classifier(name, end="sender")
    expected = []
    for one in kept:
        if isinstance(one, losscause.Observation):
            one_by_one.observe(one)
        else:
            judgement = one_by_one.on_loss(one)
            expected.append((judgement.verdict, judgement.reason))
    if kept:
        table = losscause.Classifier(name, end="sender").classify(_columns(kept), reasons=True)
        found = pl.DataFrame(table).with_columns(pl.col("verdict").cast(pl.String))
        assert found.select("verdict", "reason").rows() == expected


def test_the_hypothesis_above_meets_both_verdicts(losscause_command, tmp_path):
    """Otherwise it would compare nothing with nothing."""
    file = tmp_path / "transfer.toml"
    file.write_text(_scenario(0.02, 500, 10, "sack"))
    for name in ("Spike", "Vegas buffer"):
        found = {verdict for _, _, verdict, _ in _traced(losscause_command, file, 1, name)}
        assert found >= {"congestion", "wireless"}, name


def test_the_vegas_buffer_compares_the_queued_packets_with_one_and_three():
    """Queued are W (1 - smallest RTT / RTT) packets: up to 1 mean wireless, 3 and more congestion."""
    acks = {
        "at_ns": [0, 80_000_000, 240_000_000],
        "rtt_ns": [80_000_000, 80_000_000, 160_000_000],
        "cwnd_pkts": [10, 10, 10],
        "lost_pkts": [0, 1, 1],
    }
    # 10 (1 - 80 / 80) = 0 and 10 (1 - 80 / 160) = 5.
    table = losscause.Classifier("Vegas buffer", end="sender").classify(**acks)
    assert table.columns == ["row", "verdict"]
    expected = [(1, "wireless"), (2, "congestion")]
    assert pl.DataFrame(table).with_columns(pl.col("verdict").cast(pl.String)).rows() == expected
    one_by_one = losscause.Classifier("vegas-buffer", end="sender")
    assert one_by_one.name == "Vegas buffer"
    verdicts = []
    for at_ns, rtt_ns, cwnd_pkts, lost_pkts in zip(*acks.values(), strict=True):
        one_by_one.observe(losscause.Observation(at_ns, delay_ns=rtt_ns, newly_acked_pkts=1, cwnd_pkts=cwnd_pkts))
        if lost_pkts:
            verdicts.append(one_by_one.on_loss(losscause.Loss(at_ns)).verdict)
    assert verdicts == ["wireless", "congestion"]


def test_every_kind_of_column_gives_the_same_table():
    at, rtt = [10, 20, 30, 40, 50], [5, None, 9, 6, 7]
    missing = [0, 1, 0, 2, 0]

    def rows(*table, **columns):
        table = losscause.Classifier("Spike", end="sender").classify(*table, **columns)
        return pl.DataFrame(table).with_columns(pl.col("verdict").cast(pl.String)).rows()

    expected = rows(at_ns=at, rtt_ns=rtt, newly_missing_pkts=missing)
    assert [row[0] for row in expected] == [1, 3]
    assert rows(at_ns=pa.array(at), rtt_ns=pa.array(rtt), newly_missing_pkts=np.array(missing, "int32")) == expected
    assert rows(at_ns=np.array(at), rtt_ns=pl.Series(rtt), newly_missing_pkts=pa.array(missing, pa.uint8())) == expected
    seconds = np.array([np.nan if value is None else value / 1e9 for value in rtt])
    assert rows(at_s=[value / 1e9 for value in at], rtt_s=seconds, newly_missing_pkts=missing) == expected
    frame = pl.DataFrame({"at_ns": at, "rtt_ns": rtt, "newly_missing_pkts": missing, "note": ["x"] * 5})
    assert rows(frame) == rows(frame.to_arrow()) == expected


def test_a_signal_that_means_congestion_asks_no_algorithm():
    classifier = losscause.Classifier("always wireless", end="sender")
    assert classifier.on_loss(losscause.Loss(0)).verdict == "undecided", "no gap was seen yet"
    classifier.observe(losscause.Observation(0, delay_ns=1, missing=1, missing_first=7))
    assert classifier.on_loss(losscause.Loss(1, first=7)).verdict == "wireless"
    judged = classifier.on_loss(losscause.Loss(2, signal="timeout", first=8))
    assert (judged.seq, judged.verdict) == (8, "congestion")
    assert classifier.on_loss(losscause.Loss(3)).seq is None


class NearMinimum:
    """Wireless if the round-trip time is within 5 ms of its minimum."""

    def __init__(self):
        self.smallest = self.last = None

    needs = ["acks"]

    def observe(self, observation):
        self.last = observation.delay_ns
        self.smallest = self.last if self.smallest is None else min(self.smallest, self.last)

    def judge(self, loss):
        return "wireless" if self.last - self.smallest <= 5_000_000 else "congestion"


def test_an_algorithm_of_ones_own_runs():
    acks = {"at_ns": [0, 1, 2], "rtt_ns": [10_000_000, 14_000_000, 16_000_000], "lost_pkts": [0, 1, 1]}
    table = losscause.Classifier(NearMinimum, end="sender").classify(**acks)
    assert pl.DataFrame(table)["verdict"].cast(pl.String).to_list() == ["wireless", "congestion"]
    with pytest.raises(losscause.Error, match="NearMinimum.observe raised TypeError"):
        losscause.Classifier(NearMinimum, end="sender").classify(at_ns=[0, 1], rtt_ns=[5, None])


@pytest.mark.parametrize(
    ("call", "sentence", "key"),
    [
        (
            lambda c: c("Spike").classify(at_ns=[1]),
            "Spike needs the delay of every arrival, expected the column rtt_ns or rtt_s",
            "rtt_ns",
        ),
        (lambda c: c("Veno").classify(at_ns=[1], rtt_ns=[1]), "Veno needs a congestion window, expected the column cwnd_pkts", "cwnd_pkts"),
        (lambda c: c("Spike").classify(rtt_ns=[1]), "at_ns: is missing, expected a column", "at_ns"),
        (lambda c: c("Spike").classify(at_ns=[1], rtt_n=[1]), 'the column "rtt_n" is unknown (did you mean "rtt_ns"?)', "rtt_n"),
        (lambda c: c("Spike").classify(at_ns=[2, 1], rtt_ns=[1, 1]), "at_ns: row 1 is 1 ns, and the packet before it 2 ns", "at_ns"),
        (lambda c: c("Spike").classify(at_ns=[1], rtt_ns=[-1]), "rtt_ns: row 0 is -1", "rtt_ns"),
        (lambda c: c("Spike").classify(at_ns=[1, 2], rtt_ns=[1]), "rtt_ns: has 1 rows, expected 2 as in at_ns", "rtt_ns"),
        (lambda c: c("Spike").classify(at_ns=[1], rtt_ns=[1], rtt_s=[1.0]), "rtt_s: is there beside rtt_ns", "rtt_s"),
        (lambda c: c("Spike").classify(at_ns=[1], rtt_ns=[1], lost_pkts=[2**40]), "lost_pkts: row 0 is too large", "lost_pkts"),
        (lambda c: c("Veno").classify(at_ns=[1], rtt_ns=[1], cwnd_pkts=[-2.0]), "cwnd_pkts: row 0 is -2, expected a number, 0 or more", "cwnd_pkts"),
        (lambda c: c("Spike").classify(3), "table: is of type int, expected a table", "table"),
        (lambda c: c("omniscient"), "omniscient", None),
        (lambda c: c("Vneo"), 'the algorithm "Vneo" is unknown (did you mean "Veno"?)', "algorithm"),
        (lambda c: c("Spike").on_packet(1, 2, 3), "on_packet: this classifier is at a sender, expected observe and on_loss", "end"),
        (lambda _: losscause.Classifier("Spike").on_loss(losscause.Loss(1)), "on_loss: this classifier is at a receiver", "end"),
        (lambda _: losscause.Classifier("Spike", end="middle"), 'end: is "middle", expected "receiver" or "sender"', "end"),
        (lambda c: c("Spike").observe(losscause.Observation(1, delay_ns=-1)), "delay_ns: is -1, expected a round-trip time", "delay_ns"),
        (lambda _: losscause.Loss(1, signal="gpa"), 'the signal "gpa" is unknown (did you mean "gap"?)', "signal"),
        (lambda _: losscause.Loss(1, first=3, last=2), "last: is 2, expected 3 or more as first", "last"),
        (lambda _: losscause.Observation(-1), "at_ns: is -1", "at_ns"),
        (lambda _: losscause.Observation(1, spanned=1, missing=2), "missing: is 2, expected at most the 1 spanned", "missing"),
        (lambda _: losscause.Observation(1, cwnd_pkts=float("nan")), "cwnd_pkts: is NaN", "cwnd_pkts"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence(call, sentence, key):
    with pytest.raises(losscause.Error) as raised:
        call(partial(losscause.Classifier, end="sender"))
    assert sentence in str(raised.value) and "\n" not in str(raised.value)
    assert key is None or raised.value.key == key


def test_times_before_the_last_one_are_refused_and_change_nothing():
    classifier = losscause.Classifier("Spike", end="sender")
    classifier.observe(losscause.Observation(10, delay_ns=5, missing=1))
    with pytest.raises(losscause.Error, match="at_ns: is 9, and what came before it was at 10"):
        classifier.on_loss(losscause.Loss(9))
    assert classifier.on_loss(losscause.Loss(10)).verdict == "wireless"

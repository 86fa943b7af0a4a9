"""A classifier gives the verdicts of the command line, packet by packet and in columns."""

import csv
import io
import math

import losscause
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

AT_RECEIVERS = ["Biaz", "mBiaz", "Spike", "Spike-Tobe", "ZigZag", "ZBS", "always congestion", "always wireless"]


def _scenario(lda, loss, rate_kbps, queue):
    return f"""
title = "one stream beside a burst"
duration_s = 20
measure = {{ bottleneck = "radio" }}
[[link]]
name = "radio"
rate_bps = {rate_kbps * 1000}
delay_ms = 30
queue_packets = {queue}
channel = {{ kind = "bernoulli", loss = {loss} }}
[[flow]]
name = "video"
protocol = "tfrc"
lda = "{lda}"
path = ["radio"]
measured = true
"""


def _traced(losscause_command, file, seed):
    """What the command traces: the packets that arrived with the time when they were sent, and its verdicts."""
    arguments = ["--seed", str(seed), "--trace", "-", "--trace-kind", "sent,received,verdict"]
    rows = list(csv.DictReader(io.StringIO(losscause_command("simulate", str(file), *arguments))))
    sent, packets, verdicts = {}, [], []
    for row in rows:
        seq, at = row["seq"], int(row["time_ns"])
        if row["event"] == "verdict":
            verdicts.append((int(seq), row["verdict"], row["reason"]))
        elif row["packet"] == "data":
            if row["event"] == "sent":
                sent[int(seq)] = at
            else:
                packets.append((int(seq), at, sent[int(seq)]))
    return packets, verdicts


@settings(max_examples=100, deadline=None, database=None)
@given(
    lda=st.sampled_from(AT_RECEIVERS),
    loss=st.floats(0.0, 0.3),
    rate_kbps=st.integers(100, 2000),
    queue=st.integers(2, 40),
    seed=st.integers(0, 2**63 - 1),
    cut=st.floats(0.0, 1.0),
)
def test_the_verdicts_are_those_of_the_command(losscause_command, tmp_path_factory, lda, loss, rate_kbps, queue, seed, cut):
    file = tmp_path_factory.mktemp("scenario") / "stream.toml"
    file.write_text(_scenario(lda, loss, rate_kbps, queue))
    packets, verdicts = _traced(losscause_command, file, seed)

    one_by_one = losscause.Classifier(lda)
    judged = [judgement for packet in packets for judgement in one_by_one.on_packet(*packet)]
    assert [(j.seq, j.verdict, j.reason) for j in judged] == verdicts

    # The same in columns, in two calls that share the state.
    frame = pl.DataFrame(packets, schema={"seq": pl.UInt64, "at_ns": pl.Int64, "sent_ns": pl.Int64}, orient="row")
    place = int(cut * len(packets))
    in_columns = losscause.Classifier(lda)
    parts = [pl.DataFrame(in_columns.classify(part, reasons=True)) for part in (frame[:place], frame[place:])]
    table = pl.concat([part.with_columns(pl.col("verdict").cast(pl.String)) for part in parts])
    assert table.select("seq", "verdict", "reason").rows() == verdicts


def test_the_hypothesis_above_meets_both_verdicts(losscause_command, tmp_path):
    """Otherwise it would compare nothing with nothing."""
    file = tmp_path / "stream.toml"
    file.write_text(_scenario("Spike", 0.05, 300, 10))
    found = {verdict for _, verdict, _ in _traced(losscause_command, file, 1)[1]}
    assert found == {"congestion", "wireless"}


SEQ = [0, 1, 2, 4, 5, 9, 10]
AT = [10, 20, 30, 50, 60, 100, 110]
SENT = [0, 10, 20, 40, 50, 90, 100]


def _rows(table):
    return pl.DataFrame(table).with_columns(pl.col("verdict").cast(pl.String)).rows()


def test_every_kind_of_column_gives_the_same_table():
    def classified(**columns):
        return _rows(losscause.Classifier("Spike").classify(**columns))

    expected = classified(seq=SEQ, at_ns=AT, sent_ns=SENT)
    assert [row[:2] for row in expected] == [(3, 3), (6, 5), (7, 5), (8, 5)]
    for dtype in ["int64", "uint64", "int32", "uint8", ">i8"]:
        seq, at, sent = (np.array(column, dtype) for column in (SEQ, AT, SENT))
        assert classified(seq=seq, at_ns=at, sent_ns=sent) == expected, dtype
    doubled = np.repeat(np.array(AT), 2)
    assert classified(seq=SEQ, at_ns=doubled[::2], sent_ns=SENT) == expected
    for kind in [pa.int64(), pa.uint64(), pa.int16(), pa.uint32()]:
        seq, at, sent = (pa.array(column, kind) for column in (SEQ, AT, SENT))
        assert classified(seq=seq, at_ns=at, sent_ns=sent) == expected, kind
    assert classified(seq=pl.Series(SEQ), at_ns=pl.Series(AT), sent_ns=pl.Series(SENT)) == expected
    chunked = pa.chunked_array([SEQ[:2], [], SEQ[2:]], pa.int64())
    assert classified(seq=chunked, at_ns=AT, sent_ns=SENT) == expected
    seconds = [at / 1e9 for at in AT]
    assert classified(seq=SEQ, at_s=seconds, sent_s=np.array(SENT) / 1e9) == expected
    assert classified(seq=SEQ, at_s=pa.array(seconds), sent_ns=SENT) == expected


def test_tables_of_several_packages_are_taken():
    columns = {"seq": SEQ, "at_ns": AT, "sent_ns": SENT, "size": [1] * len(SEQ)}
    expected = _rows(losscause.Classifier("ZBS").classify(seq=SEQ, at_ns=AT, sent_ns=SENT))
    table = pa.table(columns)
    batch = table.to_batches()[0]
    parts = pa.Table.from_batches([batch.slice(0, 3), batch.slice(3)])
    for packets in (pl.DataFrame(columns), table, batch, batch.slice(0), parts):
        assert _rows(losscause.Classifier("ZBS").classify(packets)) == expected
    offset = table.slice(2)
    shorter = _rows(losscause.Classifier("ZBS").classify(seq=SEQ[2:], at_ns=AT[2:], sent_ns=SENT[2:]))
    assert _rows(losscause.Classifier("ZBS").classify(offset)) == shorter


def test_no_packet_and_no_loss_give_an_empty_table():
    for columns in ({"seq": [], "at_ns": [], "sent_ns": []}, {"seq": [1, 2], "at_ns": [1, 2], "sent_ns": [0, 1]}):
        table = losscause.Classifier("ZBS").classify(**columns)
        assert len(table) == 0 and table.columns == ["seq", "row", "verdict"]
        assert pa.table(table).num_rows == 0
    empty = pl.DataFrame(schema={"seq": pl.Int64, "at_ns": pl.Int64, "sent_ns": pl.Int64})
    assert len(losscause.Classifier("ZBS").classify(empty)) == 0


def test_a_table_can_be_taken_several_times():
    table = losscause.Classifier("Spike").classify(seq=SEQ, at_ns=AT, sent_ns=SENT)
    assert pa.table(table) == pa.table(table)
    assert pa.table(table).schema.field("verdict").type == pa.dictionary(pa.int8(), pa.string())
    assert pl.DataFrame(table).height == len(table) == 4


def test_settings_replace_the_published_ones():
    def verdicts(**settings):
        return [row[2] for row in _rows(losscause.Classifier("Spike", **settings).classify(seq=SEQ, at_ns=AT, sent_ns=SENT))]

    assert losscause.Classifier("spike").name == "Spike"
    slow = [sent + 10 + 5 * place for place, sent in enumerate(SENT)]
    classify = losscause.Classifier("Spike", alpha=2.0, beta=0.0).classify
    assert {row[2] for row in _rows(classify(seq=SEQ, at_ns=slow, sent_ns=SENT))} == {"wireless"}
    classify = losscause.Classifier("Spike").classify
    assert {row[2] for row in _rows(classify(seq=SEQ, at_ns=slow, sent_ns=SENT))} == {"congestion"}
    assert verdicts(judged_by="before-gap")


@pytest.mark.parametrize(
    ("make", "sentence", "key"),
    [
        (lambda: losscause.Classifier("ZSB"), 'the algorithm "ZSB" is unknown (did you mean "ZBS"?)', "algorithm"),
        (lambda: losscause.Classifier(3), "algorithm: is of type int, expected a name or a class", "algorithm"),
        (lambda: losscause.Classifier("Veno"), "Veno looks at acknowledgements", None),
        (lambda: losscause.Classifier("Spike", alpa=1), '"alpa" is unknown (did you mean "alpha"?)', "alpa"),
        (lambda: losscause.Classifier("Spike", alpha="x"), "alpha must be a number", "alpha"),
        (lambda: losscause.Classifier("Spike", alpha=math.nan), "alpha is NaN but must be", "alpha"),
        (lambda: losscause.Classifier("Spike", alpha=None), "alpha: is None, expected a number", "alpha"),
    ],
)
def test_an_unusable_classifier_is_refused_in_one_sentence(make, sentence, key):
    with pytest.raises(losscause.Error) as raised:
        make()
    assert sentence in str(raised.value) and "\n" not in str(raised.value)
    assert raised.value.key == key


@pytest.mark.parametrize(
    ("packet", "sentence"),
    [
        ((1, 5, 0), "at_ns: is 5, and the packet before it arrived at 10; expected the order of arrival"),
        ((1, -5, 0), "at_ns: is -5, expected a whole number from 0 to 2^63 - 1"),
        ((-1, 20, 0), "seq: is -1, expected a whole number"),
        ((1, 20, -1), "sent_ns: is -1, expected a whole number"),
        ((1, math.nan, 0), "at_ns: is nan, expected a whole number"),
        ((1, 20.5, 0), "at_ns: is 20.5, expected a whole number"),
        ((2**63, 20, 0), "seq: is 9223372036854775808, expected a whole number"),
        (("1", 20, 0), "seq: is of type str, expected a whole number"),
        ((1, 20), "Spike compares trip times, expected sent_ns or sent_s with every packet"),
    ],
)
def test_an_unusable_packet_is_refused_and_changes_nothing(packet, sentence):
    classifier = losscause.Classifier("Spike")
    classifier.on_packet(0, 10, 0)
    with pytest.raises(losscause.Error) as raised:
        classifier.on_packet(*packet)
    assert sentence in str(raised.value)
    assert classifier.on_packet(1, 20, 10) == ()
    assert [judgement.seq for judgement in classifier.on_packet(3, 40, 30)] == [2]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"at_ns": [1, 3, 2]}, "at_ns: row 2 is 2 ns, and the packet before it 3 ns; expected the order of arrival"),
        ({"at_ns": [1, -2, 3]}, "at_ns: row 1 is -2, expected 0 to 2^63 - 1"),
        ({"sent_ns": np.array([0, 0, -1])}, "sent_ns: row 2 is -1, expected 0"),
        ({"seq": np.array([0, 1, 2**63], "uint64")}, "seq: row 2 is -9223372036854775808, expected 0"),
        ({"at_s": [0.0, math.nan, 1.0]}, "at_s: row 1 is NaN, expected seconds"),
        ({"at_s": np.array([0.0, 1.0, math.inf])}, "at_s: row 2 is inf, expected seconds"),
        ({"at_s": pa.array([0.0, -1.0, 1.0])}, "at_s: row 1 is -1, expected seconds"),
        ({"seq": pa.array([0, None, 2])}, "seq: row 1 is null, expected a number"),
        ({"seq": np.array([0.0, 1.0, 2.0])}, "seq: is an array of float64, expected an array or a list of whole numbers"),
        ({"seq": ["a", "b", "c"]}, "seq: is a list whose row 0 is of type str, expected an array or a list of whole numbers"),
        ({"seq": [0, 10**30, 2]}, f"seq: is a list whose row 1 is {10**30}, expected an array"),
        ({"seq": pl.Series(["a", "b", "c"])}, "seq: is an array of"),
        ({"seq": np.zeros((3, 2), "int64")}, "seq: has 2 dimensions, expected 1"),
        ({"sent_ns": [0, 1]}, "sent_ns: has 2 rows, expected 3 as in seq"),
        ({"seq": None}, "seq: is missing, expected a column"),
        ({"sent_s": [0.0, 0.0, 0.0]}, "sent_s: is there beside sent_ns, expected one of them"),
        ({"sent_ns": None}, "Spike compares trip times"),
        ({"table": 3, "seq": None, "at_ns": None, "sent_ns": None}, "table: is of type int, expected a table"),
        ({"table": pl.DataFrame()}, "table: is there beside single columns"),
        ({"snt_ns": [0, 1, 2]}, 'the column "snt_ns" is unknown (did you mean "sent_ns"?)'),
    ],
)
def test_unusable_columns_are_refused_and_change_nothing(columns, sentence):
    given_columns = {"seq": [0, 1, 2], "at_ns": [1, 2, 3], "sent_ns": [0, 1, 2], **columns}
    if "at_s" in columns:
        del given_columns["at_ns"]
    classifier = losscause.Classifier("Spike")
    with pytest.raises(losscause.Error) as raised:
        classifier.classify(**given_columns)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)
    # It begins anew, as if nothing had come.
    assert len(classifier.classify(seq=[5, 7], at_ns=[0, 1], sent_ns=[0, 0])) == 1


class _Twice:
    """Hands out the same capsules each time."""

    def __init__(self, schema_of: pa.Array, array: pa.Array) -> None:
        self.capsules = (schema_of.__arrow_c_array__()[0], array.__arrow_c_array__()[1])

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self.capsules


def test_capsules_that_were_taken_before_are_refused():
    numbers = pa.array([0, 1, 3])
    twice = _Twice(numbers, numbers)
    with pytest.raises(losscause.Error, match="the Arrow data was taken before"):
        losscause.Classifier("ZBS").classify(seq=twice, at_ns=twice, sent_ns=twice)


def test_an_array_of_another_type_than_its_schema_is_an_error():
    numbers = pa.array([0, 1, 3])
    other = _Twice(pa.array(["a", "b"]), numbers)
    with pytest.raises(losscause.Error, match="the array is of another type than its schema"):
        losscause.Classifier("ZBS").classify(seq=other, at_ns=numbers, sent_ns=numbers)


class _Gives:
    """Hands out anything in the place of capsules."""

    def __init__(self, stream: object, pair: object) -> None:
        self.stream, self.pair = stream, pair

    def __getattr__(self, name: str) -> object:
        given = {"__arrow_c_stream__": self.stream, "__arrow_c_array__": self.pair}.get(name)
        if given is None:
            raise AttributeError(name)
        return lambda requested_schema=None: given


SCHEMA, ARRAY = pa.array([0, 1, 3]).__arrow_c_array__()


@pytest.mark.parametrize("stream, pair", [(3, None), (ARRAY, None), (None, 3), (None, (1, 2)), (None, (ARRAY, SCHEMA)), (None, (1, 2, 3))])
def test_what_is_no_capsule_of_arrow_is_one_sentence(stream, pair):
    with pytest.raises(losscause.Error, match="the Arrow data cannot be read: it is not in the capsules"):
        losscause.Classifier("ZBS").classify(_Gives(stream, pair))

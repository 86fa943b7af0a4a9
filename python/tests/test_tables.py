"""Results as tables of Arrow."""

import copy
import pickle
from pathlib import Path

import losscause
import needs
import polars as pl
import pyarrow as pa
import pytest

SCENARIO = "cen2003/WLH"


def test_the_flows_and_runs_of_simulations_have_the_values_of_the_json():
    several = losscause.simulate(SCENARIO, seed=3, runs=2)
    flows = pl.DataFrame(several.flows)
    assert flows["flow"].cast(pl.String).to_list() == [flow["flow"] for flow in several["flows"]]
    assert flows["goodput_kbps"].to_list() == [flow["goodput_kbps"] for flow in several["flows"]]
    runs = pl.DataFrame(several.runs)
    assert runs.columns[0] == "seed" and runs["seed"].to_list() == [3, 4]
    assert runs["metrics.thput"].to_list() == [run["metrics"]["thput"] for run in several["each_run"]]
    one = losscause.simulate(SCENARIO, seed=3)
    assert pl.DataFrame(one.runs)["metrics.thput"].to_list() == [one["metrics"]["thput"]["value"]]
    assert pl.DataFrame(one.links).height == len(one["links"])


def test_words_are_dictionary_columns_and_a_table_can_be_taken_by_several_packages():
    flows = losscause.simulate(SCENARIO).flows
    schema = pa.table(flows).schema
    assert pa.types.is_dictionary(schema.field("flow").type)
    assert schema.field("goodput_kbps").type == pa.float64() and schema.field("measured").type == pa.bool_()
    assert pl.DataFrame(flows).height == len(flows) == pa.table(flows).num_rows


def test_the_runs_of_a_comparison_name_their_variant():
    compared = losscause.compare(SCENARIO, ["none", "ZBS"], runs=2)
    runs = pl.DataFrame(compared.runs).with_columns(pl.col("name").cast(pl.String))
    assert runs.select("name", "seed").rows() == [("none", 1), ("none", 2), ("ZBS", 1), ("ZBS", 2)]
    expected = [run["metrics"]["goodput"] for variant in compared["variants"] for run in variant["each_run"]]
    assert runs["metrics.goodput"].to_list() == expected


def test_the_rows_and_runs_of_a_sweep_have_the_values_of_the_axes(tmp_path: Path):
    file = tmp_path / "sweep.toml"
    file.write_text(
        'title = "t"\nscenario = "cen2003/WLH"\nmetrics = ["thput", "M_c"]\nruns = 2\n'
        '[[axis]]\nkey = "N"\nvalues = [1, 2]\n'
    )
    swept = losscause.sweep(file)
    rows = pl.DataFrame(swept.rows)
    assert rows["cell.values.N"].cast(pl.String).to_list() == ["1", "1", "2", "2"]
    assert rows["measured"].to_list() == [row["measured"] for cell in swept["cells"] for row in cell["rows"]]
    runs = pl.DataFrame(swept.runs)
    assert runs.height == 4 and runs["seed"].to_list() == [run["seed"] for cell in swept["cells"] for run in cell["runs"]]


def test_the_rows_of_a_reproduction_have_parameters_as_columns():
    reproduced = losscause.reproduce("cen2003/table2", runs=1, algorithms=["ZBS"])
    rows = pl.DataFrame(reproduced.rows)
    assert rows["measured"].to_list() == [item["measured"] for item in reproduced["items"]]
    assert rows["parameters.N"].unique().to_list() == [1]
    beside = pl.DataFrame(reproduced.beside)
    assert beside["system"].cast(pl.String).unique().to_list() == ["also ZBS"]
    assert len(losscause.reproduce("cen2003/table2", runs=1).beside) == 0


def test_the_losses_of_a_capture_have_a_column_per_algorithm(losscause_command, tmp_path):
    losscause_command("simulate", SCENARIO, "--pcap", str(tmp_path))
    analyzed = losscause.analyze(tmp_path / "receiver.pcap", ldas=["zbs", "spike"])
    losses = [loss for flow in analyzed["captures"][0]["flows"] for loss in flow["losses"]]
    table = pl.DataFrame(analyzed.losses)
    assert table["verdicts.zbs"].cast(pl.String).to_list() == [loss["verdicts"]["zbs"] for loss in losses]
    assert pl.DataFrame(analyzed.flows).height == len(analyzed["captures"][0]["flows"])


def test_a_table_has_rows_columns_and_slices():
    result = losscause.simulate(SCENARIO, seed=3)
    flows = result.flows
    names = [flow["flow"] for flow in result["flows"]]
    assert flows["flow"] == names == [row["flow"] for row in flows] == [flows[row]["flow"] for row in range(len(flows))]
    assert flows[-1] == flows[len(flows) - 1] and flows[1:][0] == flows[1] and len(flows[5:]) == 0
    assert flows[0]["goodput_kbps"] == result["flows"][0]["goodput_kbps"] and flows[0]["retransmitted_packets"] is None
    assert list(flows[0]) == flows.columns
    for key, error in [(len(flows), IndexError), (10**30, IndexError), ("flwo", KeyError), (1.5, TypeError)]:
        with pytest.raises(error):
            flows[key]


def test_a_table_of_several_batches_is_one(trace):
    whole = pa.table(trace)
    assert whole.column(0).num_chunks > 1, "the trace is too short for this test"
    at = len(whole.column(0).chunk(0)) - 2
    part = trace[at : at + 4]
    assert part["time_ns"] == whole["time_ns"].slice(at, 4).to_pylist()
    assert [row["event"] for row in part] == whole["event"].slice(at, 4).to_pylist()
    assert trace[at + 3] == part[3]


@pytest.fixture(scope="module")
def trace():
    return losscause.simulate({**LONG}, trace=True).trace


LONG = {
    "title": "a long transfer",
    "duration_s": 60,
    "measure": {"bottleneck": "a"},
    "link": [{"name": "a", "rate_bps": 2e7, "delay_ms": 10, "queue_packets": 50}],
    "flow": [{"name": "f", "protocol": "tcp", "path": ["a"], "measured": True}],
}


def test_tables_results_and_classifiers_pickle():
    result = losscause.simulate(SCENARIO, interval=20, trace=["verdict", "queue-drop", "corrupted"])
    judged = losscause.Classifier("Spike").classify(seq=[0, 1, 5], at_ns=[1, 2, 9], sent_ns=[0, 1, 2], reasons=True)
    for table in (result.flows, result.series, result.trace, judged, losscause.algorithms()):
        assert table is not None and len(table) > 0
        again = pickle.loads(pickle.dumps(table))
        assert pa.table(again).equals(pa.table(table)) and pa.table(again).schema == pa.table(table).schema
    compared = losscause.compare(SCENARIO, ["none", "ZBS"], runs=2)
    swept = losscause.sweep(SCENARIO, {"N": [1, 2]}, metrics=["thput"], runs=1)
    for made in (result, compared, swept, losscause.analyze(losscause.example_capture())):
        again = pickle.loads(pickle.dumps(made))
        assert type(again) is type(made) and again.json == made.json and again == made and again.answer == made.answer


def test_a_classifier_pickles_until_it_is_used():
    classifier = losscause.Classifier("Spike", beta=0.1)
    packets = {"seq": [0, 1, 3], "at_ns": [30, 40, 90], "sent_ns": [0, 10, 20]}
    again = pickle.loads(pickle.dumps(classifier))
    other = pickle.loads(pickle.dumps(losscause.Classifier("Vegas buffer", end="sender")))
    assert (again.name, again.end, other.end) == ("Spike", "receiver", "sender")
    judged = list(classifier.classify(**packets, reasons=True))
    assert list(again.classify(**packets, reasons=True)) == judged
    assert list(losscause.Classifier("Spike").classify(**packets, reasons=True)) != judged, "the setting changes the reasons"
    assert copy.deepcopy(other).end == "sender"
    with pytest.raises(losscause.Error, match="has taken in packets"):
        pickle.dumps(classifier)


def test_tables_become_those_of_polars_and_pandas_and_pages():
    flows = losscause.simulate(SCENARIO).flows
    assert flows.to_polars().equals(pl.DataFrame(flows))
    frame = flows.to_pandas()
    assert list(frame["flow"]) == flows["flow"] and list(frame.columns) == flows.columns
    assert frame["goodput_kbps"].tolist() == flows["goodput_kbps"]
    page = flows._repr_html_()
    assert page.count("<tr>") == len(flows) + 1 and "<th>goodput_kbps</th>" in page
    assert "test.1" in repr(flows) and str(len(flows)) in repr(flows)


def test_pictures_show_what_results_say():
    pyplot = needs.package("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    compared = losscause.compare(SCENARIO, ["none", "ZBS"], runs=2)
    axes = compared.plot()
    shown = [bar.get_width() for bar in axes.patches]
    assert shown == [variant["metrics"]["goodput"]["value"] for variant in compared["variants"]]
    intervals = " (lines: 95 % intervals)"
    assert axes.get_xlabel() == f"goodput, kb/s{intervals}"
    assert compared.plot(metric="M_w").get_xlabel() == f"M_w, percent{intervals}"
    fast = losscause.simulate(SCENARIO, set={"bw_kbps": 5000, "last_kbps": 5000, "link.last.channel": {"kind": "perfect"}})
    [flow] = [flow for flow in fast.flows if flow["measured"]]
    axes = fast.plot()
    assert axes.get_xlabel() == "goodput of the first run, Mb/s"
    assert axes.patches[0].get_width() == pytest.approx(flow["goodput_kbps"] / 1e3)
    with pytest.raises(losscause.Error, match='metric: "x" is unknown, expected one of'):
        compared.plot(metric="x")
    swept = losscause.sweep(SCENARIO, {"N": [1, 2, 64]}, metrics=["thput"], systems=["none", "ZBS"], runs=1)
    axes = swept.plot()
    assert axes.get_xscale() == "log" and axes.get_yscale() == "linear"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["none", "ZBS"]
    assert axes.get_xlabel() == "N" and axes.get_ylabel() == "thput, percent"
    class OnTheAir:
        def observe(self, observation):
            pass

        def judge(self, loss):
            return "wireless"

    reproduced = losscause.reproduce("cen2003/figure11", runs=1, algorithms=[OnTheAir])
    axes = reproduced.plot(metric="M_w")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["mBiaz", "Spike", "ZigZag", "ZBS", "also OnTheAir"] and axes.get_ylabel() == "M_w, percent"
    assert axes.get_xlabel() == "N" and any(len(squares.get_offsets()) for squares in axes.collections)
    series = losscause.simulate(SCENARIO, interval=20)
    axes = series.plot()
    assert list(axes.lines[0].get_ydata()) == [row["goodput_kbps"] for row in series.series if row["flow"] == "test.1"]
    analyzed = losscause.analyze(losscause.example_capture())
    assert sum(len(points.get_offsets()) for points in analyzed.plot().collections) == len(analyzed.losses)
    assert losscause.simulate(SCENARIO).plot(ax=axes) is axes
    pyplot.close("all")


@pytest.mark.parametrize("package", ["pandas", "duckdb"])
def test_pandas_and_duckdb_take_a_table(package):
    module = needs.package(package)
    flows = losscause.simulate(SCENARIO).flows
    if package == "pandas":
        assert len(module.DataFrame.from_arrow(flows)) == len(flows)
    else:
        assert module.sql("select count(*) from flows").fetchall() == [(len(flows),)]

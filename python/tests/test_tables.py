"""Results as tables of Arrow."""

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


@pytest.mark.parametrize("package", ["pandas", "duckdb"])
def test_pandas_and_duckdb_take_a_table(package):
    module = needs.package(package)
    flows = losscause.simulate(SCENARIO).flows
    if package == "pandas":
        assert len(module.DataFrame.from_arrow(flows)) == len(flows)
    else:
        assert module.sql("select count(*) from flows").fetchall() == [(len(flows),)]

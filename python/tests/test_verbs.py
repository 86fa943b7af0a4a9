"""The other verbs give what the commands of the same names print."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import losscause
import losscause._verbs
import polars as pl
import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[2]
SCENARIO = "cen2003/WLH"
ITSELF: dict[str, object] = {}
ITSELF["scenario"] = ITSELF


def test_compare_gives_the_json_of_the_command(losscause_command):
    arguments = ["--lda", "none,ZBS", "--runs", "2", "--seed", "3", "--format", "json"]
    compared = losscause.compare(SCENARIO, ["none", "ZBS"], runs=2, seed=3)
    assert compared.json == losscause_command("compare", SCENARIO, *arguments)
    assert compared.answer.splitlines() == compared["verdict"].split("; ")
    assert repr(compared) == f"<losscause.Comparison: {compared['verdict']}>"
    assert "ZBS" in compared._repr_html_() and "±" in compared._repr_html_()


def test_variants_are_settings_by_name(losscause_command):
    arguments = ["--variant", "four: N=4", "--runs", "1", "--format", "json"]
    compared = losscause.compare(SCENARIO, variants={"four": {"N": 4}}, runs=1)
    assert compared.json == losscause_command("compare", SCENARIO, *arguments)


def test_the_unchanged_scenario_comes_first_under_its_name():
    compared = losscause.compare(SCENARIO, variants={"four": {"N": 4}, "as it is": {}}, runs=1)
    assert [variant["name"] for variant in compared["variants"]] == ["as it is", "four"]


SWEEP = """
title = "throughput by loss"
scenario = "cen2003/WLH"
metrics = ["thput", "M_c"]
runs = 2

[[axis]]
key = "N"
values = [1, 2]
"""


def test_sweep_gives_the_json_of_the_command_and_resumes(losscause_command, tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    printed = losscause_command("sweep", str(file), "--out", str(tmp_path / "command"), "--format", "json")
    swept = losscause.sweep(file, out=tmp_path / "python")
    assert swept.json == printed == losscause.sweep(file).json
    assert losscause.sweep(file, out=tmp_path / "python", resume=True).json == printed
    assert (tmp_path / "python" / "sweep.json").read_text() == printed
    assert swept.answer == "2 cells over N." and "<svg" in swept._repr_html_()


def test_a_sweep_of_dictionaries_is_that_of_the_file(tmp_path):
    (tmp_path / "sweep.toml").write_text(
        SWEEP.replace("title = \"throughput by loss\"", "title = \"thput, M_c over N, last_kbps\"")
        + '[[axis]]\nkey = "last_kbps"\nrange = { from = 150, to = 300, steps = 2 }\n'
        + '[[system]]\nname = "none"\nset = ["flow.test.lda=always congestion"]\n'
        + '[[system]]\nname = "Spike"\nset = ["flow.test.lda=Spike"]\n'
    )
    from_file = losscause.sweep(tmp_path / "sweep.toml")
    axes = {"N": [1, 2], "last_kbps": {"from": 150, "to": 300, "steps": 2}}
    asked = losscause.sweep(SCENARIO, axes, metrics=["thput", "M_c"], systems=["none", "Spike"], runs=2)
    names = {"sweep": "", "origin": {}}
    assert {**asked, **names} == {**from_file, **names}
    settings = {"none": {"flow.test.lda": "always congestion"}, "Spike": {"flow.test.lda": "Spike"}}
    by_settings = losscause.sweep(SCENARIO, axes, metrics=["thput", "M_c"], systems=settings, runs=2)
    assert by_settings.json == asked.json
    assert asked.rows["cell.values.last_kbps"][:8] == [150.0] * 4 + [300.0] * 4


def test_a_sweep_of_a_dictionary_resumes(tmp_path):
    scenario = {
        "title": "t",
        "duration_s": 5,
        "measure": {"bottleneck": "a"},
        "link": [{"name": "a", "rate_bps": 2e6, "delay_ms": 10, "queue_packets": 10}],
        "flow": [{"name": "f", "protocol": "tcp", "path": ["a"]}],
    }

    def swept(**options):
        return losscause.sweep(scenario, {"link.a.delay_ms": [5, 10.5]}, metrics=["goodput"], runs=1, out=tmp_path, **options)

    first = swept()
    assert first.rows["cell.values.link.a.delay_ms"] == [5.0, 10.5]
    assert swept(resume=True).json == first.json
    scenario["duration_s"] = 6
    with pytest.raises(losscause.Error, match="was begun before"):
        swept(resume=True)


def test_a_sweep_takes_classes_as_systems():
    class OnTheAir:
        def observe(self, observation):
            pass

        def judge(self, loss):
            return "wireless"

    for systems in (["none", OnTheAir], {"none": {}, "OnTheAir": {"flow.test.lda": OnTheAir}}):
        swept = losscause.sweep(SCENARIO, {"N": [1, 2]}, metrics=["M_w"], systems=systems, runs=1)
        assert [row["measured"] for row in swept.rows if row["system"] == "OnTheAir"] == [0, 0]


def test_a_sweep_of_too_many_cells_for_memory_is_read_from_its_folder(tmp_path):
    (tmp_path / "link.toml").write_text(
        '''title = "t"
duration_s = 1
measure = { bottleneck = "a" }
[[link]]
name = "a"
rate_bps = 2e6
delay_ms = 10
queue_packets = 10
[[flow]]
name = "f"
protocol = "tcp"
path = ["a"]
'''
    )
    file, cells = tmp_path / "sweep.toml", 20_001
    file.write_text(
        f'''title = "t"
scenario = "link.toml"
metrics = ["goodput"]
sampler = {{ kind = "sobol", cells = {cells} }}
runs = 1
[[axis]]
key = "link.a.rate_bps"
range = {{ from = 1e6, to = 2e6 }}
'''
    )
    swept = losscause.sweep(file, out=tmp_path / "out")
    assert swept.out == tmp_path / "out"
    assert swept.json == (tmp_path / "out" / "sweep.json").read_text()
    assert len(swept["cells"]) == cells
    # A row of the header, and one per cell.
    assert (swept.out / "sweep.csv").read_text().count("\n") == cells + 1
    assert swept.answer.startswith(f"{cells} cells")


def test_reproduce_gives_the_json_of_the_command(losscause_command):
    printed = losscause_command("reproduce", "cen2003/table2", "--runs", "1", "--format", "json")
    reproduced = losscause.reproduce("cen2003/table2", runs=1)
    assert reproduced.json == printed
    assert reproduced.answer.startswith("preview: ")
    assert "cen2003" in reproduced._repr_html_()


def test_algorithms_beside_the_papers_give_the_json_of_the_command(losscause_command):
    arguments = ["--runs", "1", "--also", "ZBS,Spike", "--format", "json"]
    reproduced = losscause.reproduce("cen2003/table2", runs=1, algorithms=["ZBS", "Spike"])
    assert reproduced.json == losscause_command("reproduce", "cen2003/table2", *arguments)
    alone = losscause.reproduce("cen2003/table2", runs=1)
    assert (reproduced["items"], reproduced["claims"]) == (alone["items"], alone["claims"])
    assert reproduced.answer == alone.answer and "beside" not in alone


def test_drawn_networks_give_the_json_of_the_command(losscause_command):
    arguments = ["--networks", "1", "--kind", "LTE", "--algorithms", "ZBS,Sift", "--format", "json"]
    drawn = losscause.reproduce("abroad", networks=1, kinds=["LTE"], algorithms=["ZBS", "Sift"])
    assert drawn.json == losscause_command("reproduce", "abroad", *arguments)
    assert drawn.answer and drawn.answer in drawn._repr_html_()
    assert drawn["origin"]["command"].startswith("losscause reproduce abroad --seed 1 --networks 1")
    with pytest.raises(losscause.Error, match="networks: is only for drawn networks"):
        losscause.reproduce("cen2003/table2", networks=1)
    with pytest.raises(losscause.Error, match="expected 1 or more"):
        losscause.reproduce("abroad", networks=0)


def test_analyze_gives_the_json_of_the_command(losscause_command, tmp_path):
    losscause_command("simulate", SCENARIO, "--pcap", str(tmp_path))
    capture = next(file for file in sorted(tmp_path.iterdir()) if file.suffix == ".pcap" and "receiver" in file.name)
    analyzed = losscause.analyze(capture)
    assert analyzed.json == losscause_command("analyze", str(capture), "--format", "json")
    assert analyzed["captures"][0]["flows"]
    assert "lost packet" in analyzed.answer and analyzed.answer in analyzed._repr_html_()
    assert analyzed["origin"]["command"] == f"losscause analyze {capture}" and analyzed["origin"]["seed"] is None
    some = losscause.analyze(str(capture), ldas=["zbs"])
    assert some.json == losscause_command("analyze", str(capture), "--lda", "zbs", "--format", "json")


@pytest.mark.parametrize(
    ("call", "sentence", "key"),
    [
        (lambda: losscause.compare(SCENARIO, ["ZBS"]), "there is only one variant, expected two or more", "algorithms"),
        (lambda: losscause.compare(SCENARIO, ["ZBS", "ZBS"]), 'two variants are called "ZBS"', None),
        (lambda: losscause.compare(SCENARIO, ["ZBS", "Spkie"]), 'did you mean "Spike"', None),
        (lambda: losscause.compare(SCENARIO, variants={"x": {"M": 1}}), 'the parameter "M" is unknown', "M"),
        (lambda: losscause.compare(SCENARIO, "ZBS"), "algorithms: is 'ZBS', expected a list", "algorithms"),
        (lambda: losscause.compare(SCENARIO, ["none", lambda x: x]), "cannot be made without arguments", "algorithms"),
        (lambda: losscause.compare(SCENARIO, variants={3: {}}), "variants: is {3: {}}, expected a dictionary", "variants"),
        (lambda: losscause.sweep(SCENARIO, {"N": 3}, metrics=["thput"]), "axes: N: is 3, expected a list", "axes"),
        (lambda: losscause.sweep(SCENARIO, metrics=["thput"]), "axes: is missing", "axes"),
        (lambda: losscause.sweep(SCENARIO, {"M": [1]}, metrics=["thput"]), 'the parameter "M" is unknown', None),
        (lambda: losscause.sweep(SCENARIO, {"N": [1]}, metrics=["x"]), 'sweep: metrics: "x" is unknown', "metrics"),
        (lambda: losscause.sweep(ITSELF), "is nested more than 64 deep", None),
        (lambda: losscause.reproduce(3), "items: is (3,), expected a list of texts", "items"),
        (lambda: losscause.sweep("no-such.toml"), "no-such.toml: there is no such file", None),
        (lambda: losscause.sweep(3), "sweep: is of type int, expected a path or a dictionary", "sweep"),
        (lambda: losscause.reproduce("cen2003/tabel2"), "did you mean", None),
        (
            lambda: losscause.reproduce("cen2003/table2", algorithms=["ZSB"]),
            'algorithms: ZSB: the algorithm "ZSB" is unknown (did you mean "ZBS"?)',
            "algorithms",
        ),
        (
            lambda: losscause.reproduce("cen2003/table2", algorithms=["flip-flop"]),
            "algorithms: Flip Flop: cannot run in cen2003/table2: ",
            "algorithms",
        ),
        (
            lambda: losscause.reproduce("koo2007/figure4", algorithms=["ZBS"]),
            "algorithms: ZBS: no algorithm of a paper runs in what would be measured",
            "algorithms",
        ),
        (
            lambda: losscause.compare("cen2003/WLH", ["none", "Spik"]),
            'algorithms Spik: the algorithm "Spik" is unknown',
            "algorithms",
        ),
        (lambda: losscause.reproduce(runs=0), "runs: is 0, expected a whole number from 1", "runs"),
        (lambda: losscause.analyze("no-such.pcap"), "no-such.pcap: ", None),
        (lambda: losscause.analyze(__file__), "test_verbs.py: ", None),
        (lambda: losscause.analyze("x.pcap", ldas=["zsb"]), 'there is no algorithm "zsb" for captures', "ldas"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence(call, sentence, key):
    with pytest.raises(losscause.Error) as raised:
        call()
    assert sentence in str(raised.value) and "\n" not in str(raised.value)
    assert key is None or raised.value.key == key


def test_a_half_written_folder_and_that_of_another_sweep_are_kept_as_they_are(tmp_path):
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    file.write_text(SWEEP)
    losscause.sweep(file, out=out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    file.write_text(SWEEP.replace("values = [1, 2]", "values = [1, 3]"))
    for options in ({"resume": True}, {}):
        with pytest.raises(losscause.Error):
            losscause.sweep(file, out=out, **options)
    assert {path: path.read_bytes() for path in before} == before
    swept = losscause.sweep(file, out=out, restart=True)
    assert swept["cells"][1]["cell"]["values"][0]["value"] == 3


def test_a_trace_is_that_of_the_command(losscause_command):
    printed = losscause_command("simulate", SCENARIO, "--seed", "5", "--trace", "-")
    result = losscause.simulate(SCENARIO, 5, trace=True)
    expected = pl.read_csv(printed.encode(), infer_schema_length=None)
    words = ["event", "flow", "link", "packet", "cause", "verdict", "reason"]
    traced = pl.DataFrame(result.trace).with_columns(pl.col(words).cast(pl.String))
    assert traced.columns == expected.columns and traced.height == len(result.trace) > 10_000
    assert traced.cast(dict(expected.schema)).equals(expected)
    assert result.json == losscause.simulate(SCENARIO, 5).json
    assert pa.types.is_dictionary(pa.table(result.trace).schema.field("event").type)


def test_a_trace_can_be_of_some_kinds():
    trace = losscause.simulate(SCENARIO, 7, trace=["queue-drop", "corrupted"]).trace
    causes = pl.DataFrame(trace)["cause"].cast(pl.String).unique().to_list()
    assert sorted(causes) == ["congestion", "wireless"]
    assert losscause.simulate(SCENARIO).trace is None
    empty = losscause.simulate(SCENARIO, trace=["mark"]).trace
    assert len(empty) == 0 and pa.table(empty).num_rows == 0


def test_the_programs_of_the_page_run(tmp_path):
    """Every block of Python in docs/python.md, one after the other, as one program."""
    page = (ROOT / "docs" / "python.md").read_text()
    blocks = [part.split("\n```", 1)[0] for part in page.split("```python\n")[1:]]
    assert len(blocks) > 4
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    run = tmp_path / "run.py"
    run.write_text(
        "import warnings, runpy, losscause\n"
        "warnings.simplefilter('ignore', losscause.ResultWarning)\n"
        "runpy.run_path('page.py', run_name='__main__')\n"
    )
    environment = {**os.environ, "MPLBACKEND": "agg"}
    subprocess.run([sys.executable, "-W", "error", str(run)], check=True, cwd=tmp_path, env=environment)
    check = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path.parent / "mypy"), "page.py"]
    checked = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_examples_of_docstrings_print_what_they_show(monkeypatch):
    monkeypatch.setattr("warnings.filters", [("ignore", None, losscause.ResultWarning, None, 0)])
    failed = tried = 0
    for module in (losscause, losscause._verbs):
        result = doctest.testmod(module, extraglobs={"losscause": losscause})
        failed, tried = failed + result.failed, tried + result.attempted
    assert failed == 0 and tried > 12


def test_the_example_of_the_readme_runs():
    readme = (ROOT / "python" / "README.md").read_text()
    program = readme.split("```python\n")[1].split("\n```")[0]
    made = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert float(made.stdout) == losscause.simulate(SCENARIO, seed=7)["metrics"]["thput"]["value"]


def test_the_version_is_that_of_the_command(losscause_command):
    assert losscause_command("--version").split()[1] == losscause.__version__
    assert losscause.simulate(SCENARIO)["version"] == losscause.__version__

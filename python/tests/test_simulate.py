"""`simulate` measures what the command line measures, and refuses what it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import losscause
import pytest

LINK = {
    "title": "one flow",
    "duration_s": 30,
    "measure": {"bottleneck": "radio"},
    "link": [
        {
            "name": "radio",
            "rate_bps": 1e6,
            "delay_ms": 50,
            "queue_packets": 20,
            "channel": {"kind": "bernoulli", "loss": 0.02},
        }
    ],
    "flow": [{"name": "video", "protocol": "tfrc", "lda": "ZBS", "path": ["radio"], "measured": True}],
}

ITSELF = {}
ITSELF["a"] = ITSELF
DEEP = 1
for _ in range(100_000):
    DEEP = {"a": DEEP}
FLOOD = {"flow.flood": {"protocol": "cbr", "rate_bps": 8e12, "count": 20, "path": ["radio"], "measured": False}}


def test_the_metric_of_a_papers_scenario_is_found_by_its_name():
    value = losscause.simulate("cen2003/WLH", seed=7)["metrics"]["thput"]["value"]
    assert value == losscause.simulate("cen2003/WLH", 7)["metrics"]["thput"]["value"]
    assert 0 < value <= 100


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"seed": 7}, ["--seed", "7"]),
        ({"seed": 2, "N": 4}, ["--seed", "2", "--set", "N=4"]),
        ({"flow.test.lda": "Spike", "last_kbps": 150.5}, ["--set", "flow.test.lda=Spike", "--set", "last_kbps=150.5"]),
        ({"runs": 3, "jobs": 2}, ["--runs", "3"]),
        ({"interval": 20.0}, ["--interval", "20"]),
    ],
)
def test_the_json_is_that_of_the_command_to_the_byte(losscause_command, options, arguments):
    printed = losscause_command("simulate", "cen2003/WLH", *arguments, "--format", "json")
    assert losscause.simulate("cen2003/WLH", **options).json == printed


def test_a_file_gives_what_the_command_gives(losscause_command, tmp_path):
    file = tmp_path / "link.toml"
    file.write_text(_toml())
    printed = losscause_command("simulate", str(file), "--format", "json")
    assert losscause.simulate(file).json == printed
    assert losscause.simulate(str(file)).json == printed


def _toml() -> str:
    return """
title = "one flow"
duration_s = 30
measure = { bottleneck = "radio" }
[[link]]
name = "radio"
rate_bps = 1e6
delay_ms = 50
queue_packets = 20
channel = { kind = "bernoulli", loss = 0.02 }
[[flow]]
name = "video"
protocol = "tfrc"
lda = "ZBS"
path = ["radio"]
measured = true
"""


def test_a_dictionary_is_a_scenario(tmp_path):
    file = tmp_path / "link.toml"
    file.write_text(_toml())
    from_file, from_dict = losscause.simulate(file), losscause.simulate(LINK)
    assert from_dict["scenario"] == "dict"
    names = {"scenario": "", "origin": {}}
    assert {**from_dict, **names} == {**from_file, **names}


def test_a_result_is_a_mapping_of_its_json():
    result = losscause.simulate(LINK)
    assert dict(result) == json.loads(result.json)
    assert "metrics" in result and len(result) == len(json.loads(result.json))
    assert "goodput" in repr(result)


@pytest.mark.parametrize(
    ("scenario", "overrides", "sentence", "file", "key"),
    [
        ("cen2003/WHL", {}, "did you mean", None, "cen2003/WHL"),
        ("no-such.toml", {}, "no-such.toml: there is no such file", "no-such.toml", None),
        ({**LINK, "duraton_s": 3}, {}, 'dict: duraton_s: the key "duraton_s" is unknown', "dict", "duraton_s"),
        (LINK, {"duration_s": -1}, "dict: duration_s: ", "dict", "duration_s"),
        (LINK, {"set": {"M": 4}}, 'the parameter "M" is unknown', None, "M"),
        (LINK, {"set": 3}, "set: is of type int, expected a dictionary of settings", None, "set"),
        (LINK, {"set": {"duration_s": 3}, "duration_s": 4}, "duration_s: is in set and a keyword", None, "duration_s"),
        (LINK, {"set": {"x": "\ud800"}}, "x: is '\\ud800', expected a text of whole characters", None, "x"),
        (LINK, {"trace": "verdict"}, "trace: is 'verdict', expected a list", None, "trace"),
        (LINK, {"algorithms": 3}, "algorithms: is 3, expected a list of classes", None, "algorithms"),
        (LINK, {"flow.video.lda": "ZSB"}, '(did you mean "ZBS"?)', "dict", "flow.video.lda"),
        (LINK, {"flow..lda": "ZBS"}, "a part of the key is empty", None, "flow..lda"),
        (LINK, {"duration_s": None}, "duration_s: is None, expected a number", None, "duration_s"),
        (LINK, {"duration_s": float("nan")}, "dict: duration_s: ", "dict", "duration_s"),
        ({"title": object()}, {}, "title: is of type object, expected", None, "title"),
        ({3: "x"}, {}, "dict: has of type int for a key", None, None),
        (3, {}, "scenario: is of type int, expected a name, a path or a dictionary", None, "scenario"),
        (LINK, {"seed": -1}, "seed: is -1, expected a whole number from 0", None, "seed"),
        (LINK, {"seed": 1.5}, "seed: is 1.5, expected a whole number", None, "seed"),
        (LINK, {"runs": 0}, "runs: is 0, expected a whole number from 1", None, "runs"),
        (LINK, {"jobs": 0}, "jobs: is 0, expected a whole number from 1", None, "jobs"),
        ({**LINK, "title": "\u202e"}, {}, "dict: title: has U+202E", "dict", "title"),
        (LINK, {"jobs": 0, "runs": 2}, "jobs: is 0, expected a whole number from 1", None, "jobs"),
        (LINK, {"jobs": "two", "runs": 2}, "jobs: is two, expected a whole number from 1", None, "jobs"),
        (LINK, {"interval": "x"}, "interval: is x, expected seconds", None, "interval"),
        (LINK, {"trace": True, "runs": 2}, "trace: shows one run", None, "trace"),
        (LINK, {"interval": 0.0}, "interval: is 0.0, expected seconds", None, "interval"),
        (LINK, {"trace": ["drps"]}, '"drps" is unknown', None, "trace"),
        (LINK, {"runs": 4294967295}, "runs 4294967295: expected at most 10000", None, "runs"),
        ({**LINK, "parameters": ITSELF}, {}, "parameters: is nested more than 64 deep", None, "parameters"),
        ({**LINK, "x": DEEP}, {}, "x: is nested more than 64 deep", None, "x"),
        (LINK, {"x": [DEEP]}, "x: is nested more than 64 deep", None, "x"),
        (LINK, FLOOD, "dict: flow.flood.rate_bps: a run may need up to ", "dict", "flow.flood.rate_bps"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence(scenario, overrides, sentence, file, key):
    with pytest.raises(losscause.Error) as raised:
        losscause.simulate(scenario, **overrides)
    text = str(raised.value)
    assert sentence in text and "\n" not in text
    assert (raised.value.file, raised.value.key) == (file, key)


def test_an_error_is_a_value_error_and_a_keyword_of_no_name_a_type_error():
    with pytest.raises(ValueError, match="duration_s"):
        losscause.simulate(LINK, set={"duration_s": -1})
    for keyword, hint in [("sed", 'did you mean "seed"'), ("duration", 'did you mean "duration_s"'), ("M", "expected one of title")]:
        with pytest.raises(TypeError, match=rf'simulate\(\) has no argument or parameter "{keyword}".*{hint}'):
            losscause.simulate(LINK, **{keyword: 3})
    with pytest.raises(losscause.Error, match="the parameter"):
        losscause.simulate(LINK, set={"sed": 3})


def test_hints_give_settings_as_python_takes_them(losscause_command, tmp_path):
    file = tmp_path / "wifi.toml"
    losscause_command("init", "wifi", "-o", str(file))
    with pytest.raises(TypeError, match=r'\(did you mean set=\{"flow.download.lda": "Sift"\}\?\)'):
        losscause.simulate(file, lda="Sift")
    with pytest.raises(losscause.Error, match=r'did you mean set=\{"link.wifi.queue": \{ "kind": "codel" \}\}\?\)'):
        losscause.simulate(file, queue="codel")
    with pytest.warns(losscause.ResultWarning, match=r'; set=\{"flow.download.lda": "Sift"\} sets one$'):
        told = losscause.simulate(file)
    assert 'set={"flow.download.lda": "Sift"} sets one.' in told.answer and "--set" not in told.answer


def test_a_scenario_that_init_writes_is_told_with_the_command():
    with pytest.raises(losscause.Error, match=r"there is no such file \(losscause init parking-lot writes it\)"):
        losscause.simulate("parking-lot")


def test_settings_are_those_of_the_command_with_units(losscause_command, tmp_path):
    file = tmp_path / "wifi.toml"
    losscause_command("init", "wifi", "-o", str(file))
    printed = losscause_command("simulate", str(file), "--set", "rate=20M", "--set", "loss=0.5%", "--format", "json")
    by_set = losscause.simulate(file, set={"rate": "20M", "loss": "0.5%"})
    assert by_set.json == printed == losscause.simulate(file, rate="20M", loss="0.5%").json


def test_warnings_are_those_of_python_and_of_the_line_that_called():
    with pytest.warns(losscause.ResultWarning, match="no measured flow has an LDA") as warned:
        result = losscause.simulate("cen2003/WLH")
    assert warned[0].filename == __file__
    texts = [str(warning.message) for warning in warned]
    own = [warning["text"] for warning in result["warnings"] if warning["kind"] != "different-windows"]
    assert texts == [text.replace("--set flow.test.lda=Sift", 'set={"flow.test.lda": "Sift"}') for text in own]
    assert texts[0].split(";")[0] in result._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clean = {**LINK["link"][0], "channel": {"kind": "perfect"}}
        losscause.simulate({**LINK, "link": [clean]}, set={"flow.video.lda": "always congestion"})


HOURS = f"""
import losscause, os, threading, time
link = {LINK!r}
link["duration_s"] = 100_000
link["link"][0].update(rate_bps=1e9, channel={{"kind": "bernoulli", "loss": 0}})
"""


def test_other_threads_run_during_a_run(tmp_path):
    """The run would take hours; the main thread goes on, which it could not while the run holds the lock."""
    program = tmp_path / "program.py"
    program.write_text(
        HOURS
        + """
threading.Thread(target=losscause.simulate, args=[link], daemon=True).start()
time.sleep(0.3)
os._exit(7)
"""
    )
    assert subprocess.run([sys.executable, str(program)], timeout=60).returncode == 7


def is_stopped_by_ctrl_c(program: Path) -> None:
    """The program prints `begun`, and `stopped` when the exception comes; it runs in its own directory."""
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True, cwd=program.parent)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "stopped\n"
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("options", ["", ", runs=100, jobs=2"])
def test_ctrl_c_stops_a_run(options, tmp_path):
    """The run would take hours; the process ends with the signal's exception instead."""
    program = tmp_path / "program.py"
    program.write_text(
        HOURS
        + f"""
print("begun", flush=True)
try:
    losscause.simulate(link{options})
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    )
    is_stopped_by_ctrl_c(program)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_a_sweep_in_the_middle_of_a_run(tmp_path):
    (tmp_path / "link.toml").write_text(
        """
title = "t"
duration_s = 1e6
[measure]
bottleneck = "radio"
[[link]]
name = "radio"
rate_bps = 1e8
delay_ms = 50
queue_packets = 20
[[flow]]
name = "video"
protocol = "tfrc"
path = ["radio"]
"""
    )
    (tmp_path / "sweep.toml").write_text(
        """
title = "t"
scenario = "link.toml"
metrics = ["goodput"]
[[axis]]
key = "link.radio.delay_ms"
values = [50, 60]
"""
    )
    program = tmp_path / "program.py"
    program.write_text(
        """
import losscause
print("begun", flush=True)
try:
    losscause.sweep("sweep.toml")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    )
    is_stopped_by_ctrl_c(program)


def test_progress_is_shown_by_tqdm(capsys):
    losscause.simulate({**LINK, "duration_s": 10_000}, progress=True)
    assert "s/s" in capsys.readouterr().err
    losscause.simulate(LINK, progress=False)
    assert capsys.readouterr().err == ""


def test_numpy_is_not_imported_until_it_is_needed():
    program = "import losscause, sys; losscause.simulate('cen2003/WLH'); sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_page_for_notebooks_has_the_answer_and_a_chart():
    html = losscause.simulate({**LINK, "title": "<one> & only"})._repr_html_()
    assert "&lt;one&gt; &amp; only" in html and "<svg" in html and "video" in html
    assert os.sep + "home" not in html and Path.cwd().as_posix() not in html

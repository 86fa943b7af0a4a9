"""Scenarios as typed objects: made from the schema, accepted as dictionaries are, checked by type checkers."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import losscause
import pytest
from losscause.scenario import BernoulliChannel, DropTailQueue, Flow, Link, Measure, Scenario, TcpQuirks, TcpSettings

PYTHON = Path(__file__).parents[1]


def _radio(**of_link):
    return Scenario(
        title="a transfer over a radio link",
        duration_s=10,
        parameters={"loss": 0.02},
        measure=Measure(bottleneck="radio"),
        link=[Link(name="radio", rate_bps=1e6, delay_ms=20, channel=BernoulliChannel(loss="loss"), **of_link)],
        flow=[Flow(name="file", protocol="tcp", variant="sack", path=["radio"], measured=True)],
    )


def test_the_module_is_what_its_script_makes_of_the_schema():
    made = subprocess.run([sys.executable, PYTHON / "tools" / "scenario_types.py", "--check"], check=False)
    assert made.returncode == 0, "run python/tools/scenario_types.py"


def test_a_scenario_of_objects_is_that_of_the_dictionaries():
    objects = _radio(queue_packets=20, queue=DropTailQueue())
    dictionaries = json.loads(json.dumps(objects))
    assert dictionaries["link"][0]["channel"] == {"kind": "bernoulli", "loss": "loss"}
    assert type(dictionaries["link"][0]) is dict
    run = losscause.simulate(objects, seed=3, loss=0.05)
    assert run.json == losscause.simulate(dictionaries, seed=3, loss=0.05).json
    assert losscause.compare(objects, ["none", "Spike"], runs=1).json == losscause.compare(dictionaries, ["none", "Spike"], runs=1).json


def test_a_part_can_be_an_object_in_a_dictionary_and_the_other_way_round():
    scenario = dict(_radio(queue_packets=20))
    scenario["tcp"] = TcpSettings(max_window_pkts=8, quirks=TcpQuirks(tick_ms=10))
    with_parts = losscause.simulate(scenario)
    scenario["tcp"] = {"max_window_pkts": 8, "quirks": {"tick_ms": 10}}
    assert losscause.simulate(scenario).json == with_parts.json


def test_objects_are_copied_pickled_and_shown():
    link = Link(name="a", rate_bps=1e6, delay_ms=1, channel=BernoulliChannel(loss=0.1))
    assert pickle.loads(pickle.dumps(link)) == link and type(pickle.loads(pickle.dumps(link))) is Link
    assert repr(link) == "Link(name='a', rate_bps=1000000.0, delay_ms=1, channel=BernoulliChannel(loss=0.1))"
    assert "queue_packets" not in Link(name="a", rate_bps=1, delay_ms=1, queue_packets=None)


@pytest.mark.parametrize(
    ("call", "sentence", "key"),
    [
        (lambda: Link(name="a", rate_bsp=1, delay_ms=1), 'Link: the key "rate_bsp" is unknown (did you mean "rate_bps"?)', "rate_bsp"),
        (lambda: Link(name="a", delay_ms=1), "Link: rate_bps: is missing", "rate_bps"),
        (lambda: BernoulliChannel(kind="perfect", loss=1), 'BernoulliChannel: the key "kind" is unknown', "kind"),
        (lambda: losscause.simulate(_radio(queue_packets=-1)), "queue_packets", "link.radio.queue_packets"),
        (lambda: losscause.simulate(_radio(queue_packets=20, slot_ms="x")), "slot_ms", "link.radio.slot_ms"),
    ],
)
def test_an_error_names_the_key(call, sentence, key):
    with pytest.raises(losscause.Error) as raised:
        call()
    assert sentence in str(raised.value) and raised.value.key == key


GOOD = """
from losscause.scenario import BernoulliChannel, CodelQueue, Flow, Link, Measure, Scenario

scenario = Scenario(
    title="t",
    duration_s=10,
    measure=Measure(bottleneck="a"),
    link=[Link(name="a", rate_bps="2 * 1e6", delay_ms=1, channel=BernoulliChannel(loss=0.1), queue=CodelQueue())],
    flow=[Flow(name="f", protocol="tcp", variant="sack", path=["a"], lda="ZBS")],
)
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('protocol="tcp"', 'protocol="udp"'),
        ("rate_bps=", "rate_bsp="),
        ('rate_bps="2 * 1e6", ', ""),
        ("channel=BernoulliChannel(loss=0.1)", 'channel=Measure(bottleneck="a")'),
        ('path=["a"]', "path=[1]"),
        ("duration_s=10", "duration_s=None"),
        ("queue=CodelQueue()", 'queue={"kind": "codel"}'),
    ],
)
def test_type_checkers_take_what_is_right_and_refuse_what_is_wrong(tmp_path, right, wrong):
    assert GOOD.count(right) == 1
    files = {"good": GOOD, "bad": GOOD.replace(right, wrong)}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    check = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path.parent / "mypy")]
    found = subprocess.run([*check, "good.py", "bad.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "good.py" not in found.stdout and "bad.py" in found.stdout, found.stdout + found.stderr


def test_importing_the_package_does_not_import_the_types():
    program = "import sys, losscause; sys.exit('losscause.scenario' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

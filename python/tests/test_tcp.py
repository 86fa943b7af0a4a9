"""A TCP of one's own in Python runs where a published one does."""

import losscause
import pytest

LINK = {
    "title": "A download over a radio",
    "duration_s": 20,
    "measure": {"from_s": 2},
    "link": [
        {
            "name": "radio",
            "rate_bps": 4e6,
            "delay_ms": 30,
            "queue_packets": 30,
            "channel": {"kind": "bernoulli", "loss": 0.005},
        }
    ],
    "flow": [{"name": "download", "protocol": "tcp", "path": ["radio"]}],
}


class PythonReno:
    """RFC 5681 with FlightSize, as the built-in response aimd."""

    def on_ack(self, window, ack):
        if ack.may_grow:
            window.cwnd += 1 if window.cwnd < window.ssthresh else 1 / window.cwnd

    def on_loss(self, window, loss):
        if loss.verdict == "wireless":
            return
        window.ssthresh = max(window.in_network(loss.flight_pkts) / 2, 2)
        window.cwnd = window.ssthresh

    def on_timeout(self, window, timeout):
        if not timeout.again:
            window.ssthresh = max(window.in_network(timeout.flight_pkts) / 2, 2)
        window.cwnd = 1


def _metrics(result):
    return dict(result["metrics"])


@pytest.mark.parametrize("recovery", ["sack", "newreno", "reno", "vegas"])
@pytest.mark.parametrize("lda", ["none", "omniscient"])
def test_renos_rule_in_python_makes_renos_run(recovery, lda):
    settings = {"tcp.recovery": recovery} | ({"flow.download.lda": lda} if lda != "none" else {})
    built_in = losscause.simulate(LINK, seed=2, **settings, **{"tcp.response": "aimd"})
    own = losscause.simulate(LINK, seed=2, **settings, **{"tcp.variant": PythonReno})
    assert _metrics(own) == _metrics(built_in)
    assert built_in["flows"][0]["queue_drops"] + built_in["flows"][0]["wireless_drops"] > 20


def test_it_is_named_in_a_scenario_compared_and_runs_in_the_sender_of_linux():
    named = losscause.simulate(LINK | {"tcp": {"variant": "mine"}}, algorithms={"mine": PythonReno})
    assert _metrics(named) == _metrics(losscause.simulate(LINK, **{"tcp.variant": "sack"}))
    compared = losscause.compare(
        LINK, variants={"sack": {"tcp.variant": "sack"}, "own": {"tcp.variant": PythonReno}}, runs=2
    )
    sack, own = compared["variants"][1:]
    assert (sack["name"], own["name"]) == ("sack", "own")
    assert sack["metrics"]["goodput"] == own["metrics"]["goodput"]
    linux = losscause.simulate(LINK, **{"tcp.variant": PythonReno, "tcp.mode": "linux"})
    assert linux["metrics"]["goodput"]["value"] > 500


def test_a_sweep_has_it_on_an_axis(tmp_path):
    (tmp_path / "link.toml").write_text(
        'title = "t"\nduration_s = 5\n[[link]]\nname = "radio"\nrate_bps = 4e6\ndelay_ms = 30\nqueue_packets = 30\n'
        '[[flow]]\nname = "download"\nprotocol = "tcp"\npath = ["radio"]\n'
    )
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'title = "t"\nscenario = "link.toml"\nruns = 1\nmetrics = ["goodput"]\n'
        '[[axis]]\nkey = "tcp.variant"\nvalues = ["sack", "PythonReno"]\n'
    )
    first, second = losscause.sweep(sweep, algorithms=[PythonReno])["cells"]
    assert first["runs"] == second["runs"]


class Wrong(PythonReno):
    def on_loss(self, window, loss):
        window.cwnd = float("nan")


class Raising(PythonReno):
    def on_timeout(self, window, timeout):
        raise ValueError("no timeouts, please")


def test_what_it_leaves_or_raises_is_told_with_the_time():
    with pytest.raises(losscause.Error, match=r"seed 1, at \d+\.\d+ s: Wrong.on_loss left window.cwnd at NaN, expected a"):
        losscause.simulate(LINK, **{"tcp.variant": Wrong})
    lossy = {"link.radio.channel.loss": 0.2}
    with pytest.raises(losscause.Error, match="Raising.on_timeout raised ValueError: no timeouts, please"):
        losscause.simulate(LINK, **{"tcp.variant": Raising}, **lossy)


def test_an_unknown_name_and_a_class_that_lacks_a_method_are_refused():
    with pytest.raises(losscause.Error, match='tcp.variant: "mien" is unknown .*, expected one of reno, .*, mine'):
        losscause.simulate(LINK, **{"tcp.variant": "mien"}, algorithms={"mine": PythonReno})
    timeouts_only = type("TimeoutsOnly", (), {"on_timeout": lambda self, window, timeout: None})
    with pytest.raises(losscause.Error, match="has on_timeout but no method on_ack, expected all of a TCP"):
        losscause.simulate(LINK, **{"tcp.variant": timeouts_only})


class Counting(PythonReno):
    """Counts what it is told, over all connections."""

    told = {"on_open": 0, "on_dup_ack": 0, "on_mark": 0}

    def on_open(self, window, initial_pkts):
        assert window.cwnd == initial_pkts
        self.told["on_open"] += 1

    def on_dup_ack(self, at_ns):
        self.told["on_dup_ack"] += 1

    def on_mark(self, window, loss):
        self.told["on_mark"] += 1
        self.on_loss(window, loss)


def test_it_is_told_of_the_syn_of_duplicates_and_of_marks():
    marks = {"link.radio.queue": {"kind": "red", "min_th_packets": 3, "max_th_packets": 12, "ecn": True}, "tcp.ecn": True}
    losscause.simulate(LINK, **{"tcp.variant": Counting, "tcp.quirks.syn_bytes": 40}, **marks)
    assert Counting.told["on_open"] == 1
    assert Counting.told["on_dup_ack"] > 20 and Counting.told["on_mark"] >= 2

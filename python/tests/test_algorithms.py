"""An algorithm of one's own in Python runs where a built-in one does."""

import re
import traceback

import losscause
import polars as pl
import pytest

SCENARIO = "cen2003/WLH"


class PythonSpike:
    """Spike with its published parameters, in whole nanoseconds: alpha 1/2, beta 1/3 (Cen 2003, III-B)."""

    def __init__(self):
        self.smallest = self.largest = None
        self.in_spike = False

    def observe(self, observation):
        rott = observation.delay_ns
        if self.smallest is None:
            self.smallest = self.largest = rott
        self.smallest = min(self.smallest, rott)
        self.largest = max(self.largest, rott)
        above, extent = rott - self.smallest, self.largest - self.smallest
        if self.in_spike:
            self.in_spike = not 3 * above < extent
        else:
            self.in_spike = 2 * above > extent

    def judge(self, loss):
        return "congestion" if self.in_spike else "wireless"


class SpikeBeforeGap(PythonSpike):
    """The same by the state before the packet that reveals the gap, as Cen 2003 is read."""

    before = False

    def observe(self, observation):
        self.before = self.in_spike
        super().observe(observation)

    def judge(self, loss):
        return "congestion" if self.before else "wireless"


class Trusting:
    """Every loss that a sender declares is wireless."""

    needs = ["acks"]

    def observe(self, observation):
        assert observation.newly_acked_pkts is not None
        assert observation.delay_ns is None or observation.delay_ns > 0

    def judge(self, loss):
        return "wireless"


def _verdicts(result):
    columns = ["time_ns", "flow", "seq", "cause", "verdict"]
    return pl.DataFrame(result.trace).with_columns(pl.col("flow", "cause", "verdict").cast(pl.String)).select(columns).rows()


@pytest.mark.parametrize("scenario", [SCENARIO, "cen2003/WB"])
def test_spikes_rule_in_python_gives_spikes_verdict_on_every_loss(scenario):
    built_in = losscause.simulate(scenario, seed=3, trace=["verdict"], **{"flow.test.lda": "Spike"})
    own = losscause.simulate(scenario, seed=3, trace=["verdict"], **{"flow.test.lda": PythonSpike})
    verdicts = _verdicts(built_in)
    assert {row[-1] for row in verdicts} == {"congestion", "wireless"}
    assert _verdicts(own) == verdicts
    assert own["flows"][0]["lda"] == "PythonSpike"
    same = {name: metric for name, metric in built_in["metrics"].items() if not name.startswith("usage.")}
    assert {name: metric for name, metric in own["metrics"].items() if not name.startswith("usage.")} == same


def test_several_runs_on_threads_give_the_same_as_one_after_the_other():
    both = losscause.simulate(SCENARIO, runs=3, jobs=3, **{"flow.test.lda": PythonSpike})
    spike = losscause.simulate(SCENARIO, runs=3, jobs=1, **{"flow.test.lda": "Spike"})
    assert both["metrics"]["goodput"] == spike["metrics"]["goodput"]


def test_it_is_compared_beside_the_built_in_ones():
    compared = losscause.compare(SCENARIO, ["none", "Spike", PythonSpike], runs=2)
    none, spike, own = compared["variants"]
    assert [none["name"], spike["name"], own["name"]] == ["none", "Spike", "PythonSpike"]
    assert own["metrics"]["goodput"] == spike["metrics"]["goodput"] != none["metrics"]["goodput"]


def test_it_runs_beside_the_papers_algorithms_and_is_not_scored():
    reproduced = losscause.reproduce("cen2003/table2", runs=1, algorithms=[SpikeBeforeGap])
    spike = {item["metric"]: item["measured"] for item in reproduced["items"] if item["system"] == "Spike"}
    own = {item["metric"]: item["measured"] for item in reproduced["beside"]}
    assert own == spike and set(own) == {"thput", "cong", "M_c", "M_w"}
    assert {item["system"] for item in reproduced["beside"]} == {"also SpikeBeforeGap"}
    assert {item["status"] for item in reproduced["beside"]} == {"no-published-value"}
    named = losscause.reproduce("cen2003/table2", runs=1, algorithms={"mine": SpikeBeforeGap})
    assert {item["system"] for item in named["beside"]} == {"also mine"}


def test_what_it_raises_beside_the_papers_algorithms_comes_with_the_table_and_the_seed():
    with pytest.raises(losscause.Error) as raised:
        losscause.reproduce("cen2003/table2", runs=2, seed=4, algorithms=[Raising])
    said = str(raised.value)
    assert re.match(r"cen2003: Table II, also Raising, WLH, N 1, loss high, seed [45], at \d+\.\d{6} s: Raising\.observe raised", said)
    assert "in observe" in "".join(traceback.format_exception(raised.value.__cause__))


def test_one_at_a_sender_sees_acknowledgements():
    tcp = {
        "title": "one TCP flow",
        "duration_s": 20,
        "measure": {"bottleneck": "radio"},
        "link": [
            {
                "name": "radio",
                "rate_bps": 1e6,
                "delay_ms": 20,
                "queue_packets": 20,
                "channel": {"kind": "bernoulli", "loss": 0.02},
            }
        ],
        "flow": [{"name": "file", "protocol": "tcp", "path": ["radio"], "measured": True}],
    }
    trusting, told = ({"flow.file.lda": lda} for lda in (Trusting, "always wireless"))
    own, built_in = losscause.simulate(tcp, **trusting), losscause.simulate(tcp, **told)
    assert own["metrics"]["goodput"] == built_in["metrics"]["goodput"]
    assert own["metrics"]["goodput"]["value"] > losscause.simulate(tcp)["metrics"]["goodput"]["value"]
    with pytest.raises(losscause.Error, match="Trusting looks at acknowledgements, so it is for TCP senders only"):
        losscause.simulate(SCENARIO, **{"flow.test.lda": Trusting})


def test_a_classifier_runs_it():
    packets = {"seq": [0, 1, 3, 4, 6], "at_ns": [10, 20, 60, 90, 130], "sent_ns": [0, 10, 30, 40, 60]}
    own, built_in = (losscause.Classifier(lda).classify(**packets) for lda in (PythonSpike, "Spike"))
    assert pl.DataFrame(own).equals(pl.DataFrame(built_in))
    assert losscause.Classifier(PythonSpike).name == "PythonSpike"


def test_a_capture_is_judged_by_it(losscause_command, tmp_path):
    losscause_command("simulate", SCENARIO, "--pcap", str(tmp_path))
    names = ["spike", "pythonspike"]
    analyzed = losscause.analyze(tmp_path / "receiver.pcap", ldas=names, algorithms=[PythonSpike])
    losses = [loss["verdicts"] for flow in analyzed["captures"][0]["flows"] for loss in flow["losses"]]
    assert {verdicts["spike"] for verdicts in losses} == {"congestion", "wireless"}
    assert [verdicts["pythonspike"] for verdicts in losses] == [verdicts["spike"] for verdicts in losses]


class Raising(PythonSpike):
    def observe(self, observation):
        if observation.seq == 100:
            raise ValueError("the hundredth packet")
        super().observe(observation)


class Mumbling(PythonSpike):
    def judge(self, loss):
        return "perhaps"


class Unmade(PythonSpike):
    made = 0

    def __init__(self):
        Unmade.made += 1
        if Unmade.made > 1:
            raise RuntimeError("only one")
        super().__init__()


@pytest.mark.parametrize("options", [{}, {"runs": 2}])
def test_what_a_method_raises_comes_with_its_traceback_and_the_place(options):
    with pytest.raises(losscause.Error) as raised:
        losscause.simulate(SCENARIO, seed=4, **{"flow.test.lda": Raising}, **options)
    place = "cen2003/WLH: seed 4, at " if not options else "cen2003/WLH: at "
    assert str(raised.value).startswith(place)
    assert str(raised.value).endswith(" s: Raising.observe raised ValueError: the hundredth packet")
    cause = raised.value.__cause__
    assert isinstance(cause, ValueError)
    assert "in observe" in "".join(traceback.format_exception(cause))
    assert raised.value.file == SCENARIO


def test_other_mistakes_of_a_class_are_told_too():
    with pytest.raises(losscause.Error, match='Mumbling.judge returned "perhaps", expected "congestion", "wireless" or'):
        losscause.simulate(SCENARIO, **{"flow.test.lda": Mumbling})
    with pytest.raises(losscause.Error, match="Unmade.__init__ raised RuntimeError: only one"):
        losscause.simulate(SCENARIO, **{"flow.test.lda": Unmade})
    classifier = losscause.Classifier(Mumbling)
    with pytest.raises(losscause.Error, match="Mumbling.judge returned"):
        classifier.classify(seq=[0, 2], at_ns=[1, 2], sent_ns=[0, 0])


@pytest.mark.parametrize(
    ("algorithm", "sentence"),
    [
        (type("Deaf", (), {"judge": lambda self, loss: "wireless"}), r"has no method observe, expected observe\(self"),
        (type("Silent", (), {"observe": lambda self, observation: None}), "has no method judge"),
        (
            type("Old", (), dict.fromkeys(["on_arrival", "judge"], lambda *_: None)),
            r"has on_arrival, which is observe\(self, observation\) now",
        ),
        (type("Needy", (PythonSpike,), {"needs": ["delai"]}), r'needs: the input "delai" is unknown \(did you mean "delay"'),
        (type("Vague", (PythonSpike,), {"needs": "delay"}), "needs: is of type str, expected a list of delay"),
        (type("ZBS", (PythonSpike,), {}), 'the algorithm "ZBS" is already there'),
    ],
)
def test_an_unusable_class_is_refused_in_one_sentence(algorithm, sentence):
    with pytest.raises(losscause.Error, match=sentence):
        losscause.simulate(SCENARIO, **{"flow.test.lda": algorithm})


def test_ctrl_c_in_a_method_stays_what_it_is():
    class Interrupted(PythonSpike):
        def observe(self, observation):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        losscause.simulate(SCENARIO, **{"flow.test.lda": Interrupted})


def test_observations_and_losses_can_be_made_for_tests_of_an_algorithm():
    observation = losscause.Observation(1_000, seq=7, delay_ns=5, missing=2)
    assert (observation.seq, observation.at_ns, observation.delay_ns) == (7, 1_000, 5)
    assert (observation.missing, observation.spanned, observation.newly_acked_pkts) == (2, 3, None)
    loss = losscause.Loss(1_000, first=6, revealed_by=observation)
    assert loss.revealed_by is observation
    assert (loss.seq, loss.last, loss.signal) == (6, None, "gap")
    assert repr(loss).startswith('Loss(1000, signal="gap", first=6, last=None, lost_pkts=1, revealed_by=Observation(1000, seq=7')
    algorithm = PythonSpike()
    algorithm.observe(observation)
    assert algorithm.judge(loss) == "wireless"


def test_a_class_that_needs_trip_times_is_refused_without_them():
    needy = type("Needy", (PythonSpike,), {"needs": ["delay"]})
    with pytest.raises(losscause.Error, match="Needy compares trip times, expected sent_ns"):
        losscause.Classifier(needy).classify(seq=[0, 2], at_ns=[1, 2])


def test_a_loss_at_a_receiver_names_the_observation_that_revealed_it():
    seen = []

    class Keeping(PythonSpike):
        def judge(self, loss):
            seen.append((loss.seq, loss.lost_pkts, loss.at_ns, loss.revealed_by.seq, loss.revealed_by.missing))
            return "wireless"

    losscause.Classifier(Keeping).classify(seq=[0, 1, 4], at_ns=[10, 20, 60], sent_ns=[0, 10, 40])
    assert seen == [(2, 1, 60, 4, 2), (3, 1, 60, 4, 2)]

"""Prints what the package costs: `cargo xtask python --bench`, on an idle machine. Each figure is the best of several."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import losscause
import numpy as np
import polars as pl


def best(work, times=7):
    """Seconds of the fastest of `times` calls."""

    def once():
        begun = time.perf_counter()
        work()
        return time.perf_counter() - begun

    return min(once() for _ in range(times))


def import_time():
    """The extension and the package, in a fresh interpreter."""

    def program(statement):
        return best(lambda: subprocess.run([sys.executable, "-c", statement], check=True), 11)

    with_it, without = program("import losscause"), program("pass")
    print(f"import: {1e3 * (with_it - without):.1f} ms above an empty program ({1e3 * without:.1f} ms)")


def rows():
    """More than ten million packets from polars, in one call on one thread; 3 % are lost."""
    count = 10_400_000
    rng = np.random.default_rng(1)
    seq = np.arange(count)
    sent = seq * 1_000_000
    at = np.maximum.accumulate(sent + 30_000_000 + rng.integers(0, 8_000_000, count))
    kept = rng.random(count) >= 0.03
    frame = pl.DataFrame({"seq": seq[kept], "at_ns": at[kept], "sent_ns": sent[kept]})
    for lda in ["ZBS", "Spike", "mBiaz"]:
        taken = best(lambda lda=lda: losscause.Classifier(lda).classify(frame), 5)
        print(f"{frame.height} rows, {lda}: {taken:.3f} s, {1e9 * taken / frame.height:.1f} ns per row")


class Empty:
    """A method that does nothing, for comparison."""

    def on_packet(self, seq, at_ns, sent_ns):
        pass


def one_by_one():
    """One packet per call, above the call of an empty method."""
    packets = [(n, 1_000_000 * n + 30_000_000, 1_000_000 * n) for n in range(1_000_000)]

    def feed(receiver):
        on_packet = receiver.on_packet
        for seq, at, sent in packets:
            on_packet(seq, at, sent)

    empty = best(lambda: feed(Empty()))
    for lda in ["ZBS", "Spike"]:
        taken = best(lambda lda=lda: feed(losscause.Classifier(lda)))
        above = 1e9 * (taken - empty) / len(packets)
        print(f"one packet, {lda}: {1e9 * taken / len(packets):.0f} ns, {above:.0f} ns above an empty method")


def own_algorithm():
    """Spike's rule in Python beside the built-in one, per packet that arrives."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from test_algorithms import PythonSpike

    lda = "flow.test.lda"

    def run(algorithm):
        return losscause.simulate("cen2003/WLH", **{lda: algorithm})

    arrivals = sum(flow["received_packets"] for flow in run("Spike")["flows"] if flow["measured"])
    built_in, own = best(lambda: run("Spike")), best(lambda: run(PythonSpike))
    cost = 1e6 * (own - built_in) / arrivals
    print(f"an algorithm in Python: {cost:.2f} µs per packet above the built-in one ({arrivals} packets)")


def interrupt():
    """Ctrl-C during a run of hours: until the exception is there."""
    link = {"name": "line", "rate_bps": 1e9, "delay_ms": 50, "queue_packets": 2000}
    flow = {"name": "file", "protocol": "tcp", "path": ["line"], "measured": True}
    scenario = {"title": "hours", "duration_s": 1_000_000, "link": [link], "flow": [flow]}
    scenario["measure"] = {"bottleneck": "line"}
    sent = []

    def send():
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    def once(runs):
        threading.Timer(0.5, send).start()
        try:
            losscause.simulate(scenario, runs=runs)
        except KeyboardInterrupt:
            return time.perf_counter() - sent[-1]

    for runs in [1, 10]:
        print(f"Ctrl-C, runs={runs}: {1e3 * max(once(runs) for _ in range(10)):.0f} ms, the longest of ten")


if __name__ == "__main__":
    print(f"Python {sys.version.split()[0]}, losscause {losscause.__version__}")
    import_time()
    rows()
    one_by_one()
    own_algorithm()
    interrupt()

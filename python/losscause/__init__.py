"""Tell congestion loss from wireless loss: simulator, classifiers, captures, papers.

`simulate`, `compare`, `sweep`, `reproduce` and `analyze` do what the commands of the same names do, and their results hold
the same JSON. `Classifier` judges losses among your own packets. `losscause.scenario` has the keys of
scenarios as typed objects. Whatever cannot be used raises `Error`.
"""

from losscause._losscause import (
    AckEvent,
    Classifier,
    Error,
    Judgement,
    Loss,
    LossEvent,
    Observation,
    Table,
    TimeoutEvent,
    Window,
    __version__,
)
from losscause._result import Analysis, Comparison, Reproduction, Result, Simulation, Sweep
from losscause._verbs import analyze, compare, reproduce, simulate, sweep

__all__ = [
    "AckEvent",
    "Analysis",
    "Classifier",
    "Comparison",
    "Error",
    "Judgement",
    "Loss",
    "LossEvent",
    "Observation",
    "Reproduction",
    "Result",
    "Simulation",
    "Sweep",
    "Table",
    "TimeoutEvent",
    "Window",
    "__version__",
    "analyze",
    "compare",
    "reproduce",
    "simulate",
    "sweep",
]

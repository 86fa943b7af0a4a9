"""Tell congestion loss from wireless loss: simulator, classifiers, captures, papers.

`simulate`, `compare`, `sweep`, `reproduce` and `analyze` do what the commands of the same names do, and their results hold
the same JSON. `Classifier` and `SenderClassifier` judge losses among your own packets. `losscause.scenario` has the keys of
scenarios as typed objects. Whatever cannot be used raises `Error`.
"""

from losscause._losscause import (
    AckEvent,
    AckSample,
    Arrival,
    Classifier,
    DeclaredLoss,
    Error,
    Judgement,
    Loss,
    LossEvent,
    SenderClassifier,
    Table,
    TimeoutEvent,
    Window,
    __version__,
)
from losscause._result import Analysis, Comparison, Reproduction, Result, Simulation, Sweep
from losscause._verbs import analyze, compare, reproduce, simulate, sweep

__all__ = [
    "AckEvent",
    "AckSample",
    "Analysis",
    "Arrival",
    "Classifier",
    "Comparison",
    "DeclaredLoss",
    "Error",
    "Judgement",
    "Loss",
    "LossEvent",
    "Reproduction",
    "Result",
    "SenderClassifier",
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

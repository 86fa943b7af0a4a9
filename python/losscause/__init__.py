"""Tell congestion loss from wireless loss: simulator, classifiers, captures, papers.

`simulate`, `compare`, `sweep`, `reproduce` and `analyze` do what the commands of the same names do, and their results hold
the same JSON. `Classifier` judges losses among your own packets; `algorithms` lists those that it knows.
`losscause.scenario` has the keys of scenarios as typed objects. Whatever cannot be used raises `Error`, a `ValueError`; what
to know of a result is a `ResultWarning`.

>>> simulate("cen2003/WLH", seed=7, set={"flow.test.lda": "Spike"})["metrics"]["M_w"]["unit"]
'percent'
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
from losscause._result import Analysis, Comparison, Reproduction, Result, ResultWarning, Simulation, Sweep
from losscause._verbs import algorithms, analyze, compare, example_capture, reproduce, simulate, sweep

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
    "ResultWarning",
    "Simulation",
    "Sweep",
    "Table",
    "TimeoutEvent",
    "Window",
    "__version__",
    "algorithms",
    "analyze",
    "compare",
    "example_capture",
    "reproduce",
    "simulate",
    "sweep",
]

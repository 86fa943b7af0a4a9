"""Scenarios as typed objects: one class per table of a scenario file, with its keys as arguments.

    from losscause.scenario import BernoulliChannel, Flow, Link, Measure, Scenario

    Scenario(
        title="a video over a radio link",
        duration_s=60,
        measure=Measure(bottleneck="radio"),
        link=[Link(name="radio", rate_bps=1e6, delay_ms=50, queue_packets=20, channel=BernoulliChannel(loss=0.05))],
        flow=[Flow(name="video", protocol="tfrc", path=["radio"], measured=True)],
    )

Every object is a dictionary and can be used wherever a scenario or a part of it is a dictionary. A key that does not exist
and one that is missing raise `losscause.Error`; None leaves a key out.

Made by tools/scenario_types.py from docs/scenario.schema.json; change the Rust types instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from losscause._table import Table

__all__ = [
    "Application",
    "Arrivals",
    "AtEnd",
    "BatchesDelayVariation",
    "BernoulliChannel",
    "Between",
    "Bottleneck",
    "BottleneckChoice",
    "Channel",
    "ChunkedVideoApplication",
    "CodelQueue",
    "Deflation",
    "DelayFormat",
    "DelayVariation",
    "Discounting",
    "DropTailQueue",
    "Duplication",
    "Equation",
    "ErrorPosition",
    "Fading",
    "FadingChannel",
    "FadingProcess",
    "FadingRepeats",
    "FastRetransmit",
    "FewIntervals",
    "FirstInterval",
    "Flow",
    "FqCodelQueue",
    "GilbertElliottChannel",
    "Halving",
    "Inflation",
    "InitialRate",
    "JitterDelayVariation",
    "JitterDistribution",
    "LdaAt",
    "LdaSettings",
    "LdaValue",
    "LimitedTransmit",
    "Link",
    "ListArrivals",
    "LoadChannel",
    "LossDirection",
    "LossEvent",
    "LossFormat",
    "MahimahiRateVariation",
    "Measure",
    "MinRtoOf",
    "NoFeedbackTimer",
    "NoneDelayVariation",
    "NoneRateVariation",
    "PartialAckTimer",
    "PerfectChannel",
    "Periods",
    "PieQueue",
    "PoissonArrivals",
    "PolicerQueue",
    "Protocol",
    "Quantity",
    "QueueKind",
    "Rate",
    "RateVariation",
    "RecoveryExit",
    "RedQueue",
    "Reordering",
    "Reports",
    "RequestResponseApplication",
    "Retransmission",
    "RoundTripPart",
    "Rto",
    "Scenario",
    "SinusoidDelayVariation",
    "Spacing",
    "StepsRateVariation",
    "Table",
    "TcpMode",
    "TcpQuirks",
    "TcpRecovery",
    "TcpResponse",
    "TcpSettings",
    "TcpVariant",
    "TfrcMode",
    "TfrcQuirks",
    "TfrcSettings",
    "Thinking",
    "TraceChannel",
    "TraceDelayVariation",
    "Vegas",
    "WalkDelayVariation",
    "WestwoodVt",
]

# An application over TCP.
Application: TypeAlias = "RequestResponseApplication | ChunkedVideoApplication"

# Start and stop times of the members of a group.
Arrivals: TypeAlias = "PoissonArrivals | ListArrivals"

# The delay after the last line of a delay trace.
AtEnd: TypeAlias = "Literal['hold', 'repeat']"

# The delay between two lines of a delay trace.
Between: TypeAlias = "Literal['steps', 'linear']"

# How the bottleneck is named.
Bottleneck: TypeAlias = "str | Sequence[BottleneckChoice]"

# How the channel corrupts packets.
Channel: TypeAlias = "PerfectChannel | BernoulliChannel | GilbertElliottChannel | FadingChannel | TraceChannel | LoadChannel"

# What a partial acknowledgement does to the window.
Deflation: TypeAlias = "Literal['by-acked', 'all']"

# The format of a delay trace.
DelayFormat: TypeAlias = "Literal['pairs', 'irtt', 'lens', 'leocc']"

# Variable delay that is added to a link's propagation delay.
DelayVariation: TypeAlias = "NoneDelayVariation | TraceDelayVariation | SinusoidDelayVariation | WalkDelayVariation | BatchesDelayVariation | JitterDelayVariation"

# How far older loss intervals are discounted while the open one is long.
Discounting: TypeAlias = "Literal['off', 'rfc5348', 'ns2']"

# The throughput equation.
Equation: TypeAlias = "Literal['rfc5348', 'ns2']"

# Where packets meet the channel.
ErrorPosition: TypeAlias = "Literal['after-transmission', 'before-queue']"

# The loss process that is derived from a pattern.
FadingProcess: TypeAlias = "Literal['pattern', 'bernoulli', 'markov']"

# The part of a pattern that is repeated.
FadingRepeats: TypeAlias = "Literal['pattern', 'trial']"

# When fast retransmit may happen at all.
FastRetransmit: TypeAlias = "Literal['always', 'once-per-window']"

# Which closed loss intervals are averaged with the open one while there are fewer than eight.
FewIntervals: TypeAlias = "Literal['without-oldest', 'all']"

# The loss interval before the first loss event.
FirstInterval: TypeAlias = "Literal['largest-receive-rate', 'ns2']"

# How a loss shrinks the window.
Halving: TypeAlias = "Literal['flight-size', 'window', 'whole-window']"

# Which duplicate acknowledgements from the threshold on inflate the window.
Inflation: TypeAlias = "Literal['in-recovery', 'always', 'never']"

# The rate before the first report, and the one that the first report brings.
InitialRate: TypeAlias = "Literal['rfc5348', 'ns2']"

# The distribution of a jitter.
JitterDistribution: TypeAlias = "Literal['uniform', 'normal', 'exponential', 'pareto']"

# The end of a TCP connection that differentiates losses.
LdaAt: TypeAlias = "Literal['sender', 'receiver', 'onlooker']"

# Settings of the algorithms, by the algorithm's name.
LdaSettings: TypeAlias = "Mapping[str, Mapping[str, LdaValue]]"

# A setting's value.
LdaValue: TypeAlias = "float | str | bool | Mapping[str, LdaValue]"

# What the duplicate acknowledgements below the threshold release.
LimitedTransmit: TypeAlias = "Literal['off', 'unsent-packet', 'next-packet']"

# Where a probe of a round trip was lost.
LossDirection: TypeAlias = "Literal['any', 'up', 'down']"

# What starts a new loss event.
LossEvent: TypeAlias = "Literal['arrival-time', 'send-time-and-round']"

# The format of a loss trace.
LossFormat: TypeAlias = "Literal['slots', 'irtt', 'lens']"

# What the smallest retransmission timeout bounds.
MinRtoOf: TypeAlias = "Literal['estimate', 'timer']"

# How long the sender waits for a report.
NoFeedbackTimer: TypeAlias = "Literal['rfc5348', 'ns2']"

# Which partial acknowledgements restart the retransmission timer.
PartialAckTimer: TypeAlias = "Literal['impatient', 'slow-but-steady']"

# The distribution of random lengths of time.
Periods: TypeAlias = "Literal['exponential', 'pareto']"

# The protocol or traffic source of a flow.
Protocol: TypeAlias = "Literal['tfrc', 'tcp', 'cbr', 'on-off', 'poisson', 'quic']"

# A number, or a formula in quotes: numbers with or without a unit (20 Mb/s, 600ms, 0.5%, 20M), names, + - * / ( ),
# comparisons, min, max, floor, ceil, round, if(condition, then, else).
Quantity: TypeAlias = "float | str"

# The queue discipline.
QueueKind: TypeAlias = "DropTailQueue | RedQueue | PolicerQueue | CodelQueue | FqCodelQueue | PieQueue"

# How the allowed rate follows the reports.
Rate: TypeAlias = "Literal['rfc5348', 'ns2']"

# How a link's rate varies.
RateVariation: TypeAlias = "NoneRateVariation | StepsRateVariation | MahimahiRateVariation"

# What the acknowledgement that ends fast recovery does to the window.
RecoveryExit: TypeAlias = "Literal['no-burst', 'as-deflated']"

# When the receiver reports.
Reports: TypeAlias = "Literal['rfc5348', 'ns2']"

# What a link gets of a recorded round-trip time.
RoundTripPart: TypeAlias = "Literal['whole', 'half']"

# The retransmission timeout in the equation.
Rto: TypeAlias = "Literal['four-rtts', 'ticks']"

# How packets are spaced at a given rate.
Spacing: TypeAlias = "Literal['even', 'sqrt-rtt']"

# The sets of TCP settings that have a name.
TcpMode: TypeAlias = "Literal['rfc', 'ns2', 'ns2-classic', 'linux', 'ns2-2001']"

# How losses are repaired.
TcpRecovery: TypeAlias = "Literal['reno', 'fast-retransmit', 'newreno', 'sack', 'vegas']"

# What the window does.
TcpResponse: TypeAlias = "Literal['aimd', 'vegas', 'veno', 'cubic', 'westwood', 'westwood-vt', 'new-jersey', 'bbr'] | str"

# The TCPs that have a name: a recovery and a response.
TcpVariant: TypeAlias = "Literal['reno', 'newreno', 'sack', 'vegas', 'veno', 'cubic', 'westwood', 'westwood-nr', 'westwood-vt', 'new-jersey', 'bbr'] | str"

# The sets of TFRC settings that have a name.
TfrcMode: TypeAlias = "Literal['rfc5348', 'ns2']"

# The distribution of think times.
Thinking: TypeAlias = "Literal['constant', 'exponential']"


class RequestResponseApplication(Table):
    """The client thinks after each response, and asks for the next.

    response_bytes: Size of a response, bytes of payload, rounded up to whole packets.
    think_s: From the end of a response to the next request, seconds (0 or more; a mean, unless `thinking` is
        constant).
    thinking: Distribution of that time (default: constant).
    """

    _fixed = {"kind": "request-response"}

    def __init__(
        self,
        *,
        response_bytes: Quantity,
        think_s: Quantity,
        thinking: Thinking | None = None,
    ) -> None: ...


class ChunkedVideoApplication(Table):
    """A player fetches chunks of video of one bitrate.

    chunk_s: How long a chunk plays, seconds (above 0).
    bitrate_kbps: Bitrate of the video, 1000 bits of payload per second. A chunk is rounded up to whole packets.
    buffer_s: The player asks for the next chunk while less than this is left to play, seconds (above 0).
    """

    _fixed = {"kind": "chunked-video"}

    def __init__(
        self,
        *,
        chunk_s: Quantity,
        bitrate_kbps: Quantity,
        buffer_s: Quantity,
    ) -> None: ...


class PoissonArrivals(Table):
    """Members start as a Poisson process from `start_s` on, at most `count` of them, and stop at `stop_s` at the latest.

    rate_per_s: Mean number of flows that start per second (1e-6 to 1e6).
    durations: Distribution of the duration (default: exponential).
    mean_duration_s: Mean duration of a flow, seconds (above 0; default: until `stop_s`, or until a transfer with
        `bytes` is complete).
    shape: Shape of the Pareto distribution, above 1 (`durations = "pareto"`; default 1.5).
    """

    _fixed = {"kind": "poisson"}

    def __init__(
        self,
        *,
        rate_per_s: Quantity,
        durations: Periods | None = None,
        mean_duration_s: Quantity | None = None,
        shape: Quantity | None = None,
    ) -> None: ...


class ListArrivals(Table):
    """At given times.

    times_s: Start and stop of each member, seconds.
    """

    _fixed = {"kind": "list"}

    def __init__(
        self,
        *,
        times_s: Sequence[tuple[Quantity, Quantity] | list[Quantity]],
    ) -> None: ...


class BottleneckChoice(Table):
    """One candidate for the bottleneck.

    link: The link's name.
    when: A formula over the parameters: `"N == 1"`. Without it the choice always holds.
    """

    def __init__(
        self,
        *,
        link: str,
        when: Quantity | None = None,
    ) -> None: ...


class PerfectChannel(Table):
    """No packet is lost.
    """

    _fixed = {"kind": "perfect"}

    def __init__(self) -> None: ...


class BernoulliChannel(Table):
    """Every packet is lost independently.

    loss: Share of packets lost, 0 to 1.
    """

    _fixed = {"kind": "bernoulli"}

    def __init__(
        self,
        *,
        loss: Quantity,
    ) -> None: ...


class GilbertElliottChannel(Table):
    """Losses come in bursts of geometric length (a two-state Markov chain, one step per packet).

    loss: Share of packets lost, 0 to below 1.
    mean_burst_packets: Mean number of packets lost in a row (1 or more).
    """

    _fixed = {"kind": "gilbert-elliott"}

    def __init__(
        self,
        *,
        loss: Quantity,
        mean_burst_packets: Quantity,
    ) -> None: ...


class FadingChannel(Table):
    """The fading channel of the section `[fading]`.
    """

    _fixed = {"kind": "fading"}

    def __init__(self) -> None: ...


class TraceChannel(Table):
    """Losses are read from a file.

    file: A text file of `0` (received) and `1` (lost), one per packet, separated by blanks or line ends; or a file in
        another `format`. Relative to the scenario file. It is repeated.
    direction: Which losses of a recorded round trip count (default: any). Not with the format `slots`.
    format: The format of the file (default: as above). With another one the losses are those of their instants, and
        the first packet meets the first one at time zero.
    start: The entry that the first packet meets, counted from 0 (default: a random one). Only with the format
        `slots`.
    """

    _fixed = {"kind": "trace"}

    def __init__(
        self,
        *,
        file: str,
        direction: LossDirection | None = None,
        format: LossFormat | None = None,
        start: Quantity | None = None,
    ) -> None: ...


class LoadChannel(Table):
    """Every packet is lost with a probability that follows from the link's load. Not with `slots_per_packet`, `slot_ms`
    and `error_position = "before-queue"`.

    points: Pairs of a load and the share of packets lost at it, both 0 to 1; loads rise. Between two of them the loss
        is on the straight line, outside it is that of the nearest.
    window_s: The load is the share of this time before the end of the packet's transmission in which the link
        transmitted, seconds (above 0).
    """

    _fixed = {"kind": "load"}

    def __init__(
        self,
        *,
        points: Sequence[tuple[Quantity, Quantity] | list[Quantity]],
        window_s: Quantity,
    ) -> None: ...


class NoneDelayVariation(Table):
    """Nothing.
    """

    _fixed = {"kind": "none"}

    def __init__(self) -> None: ...


class TraceDelayVariation(Table):
    """Delays from a file or a list.

    at_end: The delay after the last line or point (default: the last one's).
    between: The delay between two lines or points (default: the earlier one's).
    file: A text file with a time in seconds and a delay in milliseconds on each line, separated by blanks or a comma,
        in the order of time; `#` begins a comment; or a file in another `format`. Relative to the scenario file.
    format: The format of the file (default: as above).
    interval_ms: With `format = "leocc"`: the time between two lines, milliseconds (above 0; default 10).
    points: Instead of `file`: pairs of a time in seconds and a delay in milliseconds, in the order of time.
    round_trip: Of a recorded round-trip time: what the link gets of it (default: all of it).
    """

    _fixed = {"kind": "trace"}

    def __init__(
        self,
        *,
        at_end: AtEnd | None = None,
        between: Between | None = None,
        file: str | None = None,
        format: DelayFormat | None = None,
        interval_ms: Quantity | None = None,
        points: Sequence[tuple[Quantity, Quantity] | list[Quantity]] | None = None,
        round_trip: RoundTripPart | None = None,
    ) -> None: ...


class SinusoidDelayVariation(Table):
    """A sinusoid between 0 and `most_ms` with a random phase.

    most_ms: Largest delay, milliseconds (0 or more).
    period_s: Period, seconds (above 0).
    """

    _fixed = {"kind": "sinusoid"}

    def __init__(
        self,
        *,
        most_ms: Quantity,
        period_s: Quantity,
    ) -> None: ...


class WalkDelayVariation(Table):
    """A random walk between 0 and `most_ms`.

    most_ms: Largest delay, milliseconds (0 or more).
    step_ms: Longest step, milliseconds (0 to `most_ms`); up and down are equally likely.
    every_s: Time between two steps, seconds (at least 0.001).
    """

    _fixed = {"kind": "walk"}

    def __init__(
        self,
        *,
        most_ms: Quantity,
        step_ms: Quantity,
        every_s: Quantity,
    ) -> None: ...


class BatchesDelayVariation(Table):
    """Packets are held and handed on together, as by a network card that interrupts its host seldom, or by a radio that
    sends what has collected.

    hold_ms: How long a batch is held from its first packet on, milliseconds (0 or more).
    drawn: Whether that time is drawn for each batch, uniformly from 0 to `hold_ms` (default false).
    """

    _fixed = {"kind": "batches"}

    def __init__(
        self,
        *,
        hold_ms: Quantity,
        drawn: bool | None = None,
    ) -> None: ...


class JitterDelayVariation(Table):
    """A draw for each packet.

    distribution: The distribution.
    mean_ms: Mean, milliseconds (0 or more).
    correlation: Correlation of the draws of neighbouring packets, 0 to below 1 (default 0).
    deviation_ms: Standard deviation, milliseconds (0 or more; `uniform`: at most `mean_ms` / 1.732). Required, except
        with `exponential`, whose deviation is the mean.
    reorders: Whether packets overtake each other. If not, a packet that would arrives together with the one before it
        (default false).
    """

    _fixed = {"kind": "jitter"}

    def __init__(
        self,
        *,
        distribution: JitterDistribution,
        mean_ms: Quantity,
        correlation: Quantity | None = None,
        deviation_ms: Quantity | None = None,
        reorders: bool | None = None,
    ) -> None: ...


class Duplication(Table):
    """Packets that arrive twice.

    share: Share of the packets that get a copy, 0 to 1, each independently.
    delay_ms: How much later the copy arrives, milliseconds (0 or more; default 0).
    """

    def __init__(
        self,
        *,
        share: Quantity,
        delay_ms: Quantity | None = None,
    ) -> None: ...


class Fading(Table):
    """The channel of every link of kind `fading`. Each link has its own random start.

    pattern: A pattern of packet errors: a paper's by its name (`cen2003/high`), or a file that ends in `.txt`, made
        by `losscause fade`, relative to the scenario file.
    process: The loss process that is derived from the pattern.
    repeats: The part that is repeated if `process` is the pattern (default: all of it).
    """

    def __init__(
        self,
        *,
        pattern: str,
        process: FadingProcess | None = None,
        repeats: FadingRepeats | None = None,
    ) -> None: ...


class Flow(Table):
    """A group of equal flows.

    name: The group's name: letters, digits, `-` and `_`. Members are called `video.1`, `video.2`, …
    protocol: Protocol or traffic source.
    path: The links from sender to receiver, in order.
    additive_increase_pkts: Additive increase, packets per round-trip time (tcp with response aimd only; above 0;
        default: the value of `[tcp]`).
    application: What hands data to the sender over time (tcp only; not with `bytes`). Default: it always has some.
    arrivals: Start and stop times, if members have their own.
    bytes: Size of the transfer, bytes of payload, rounded up to whole packets (tcp only). The flow stops when all of
        it is delivered. Default: unlimited.
    count: Number of members (0 or more, default 1).
    header_bytes: Headers within a data packet, bytes (tfrc and tcp; default: the scenario's).
    lda: The loss differentiation algorithm, by name, or `omniscient` or `labelled` (tfrc: at the receiver; tcp and
        quic: at the sender, which asks about every loss that acknowledgements reveal; cbr, on-off and poisson: at the
        receiver, which only judges; default: `always congestion`).
    lda_at: The end of the TCP connection that runs it (tcp only; default: the sender).
    links_of: An earlier group: each member takes the copies of per-flow links that this group's member of the same
        number has (default: copies of its own).
    mean_off_s: Mean time off, seconds (on-off).
    mean_on_s: Mean time on, seconds (on-off).
    measured: Whether it counts in the measurements (default: true for tfrc, tcp and quic; for others, if it has an
        `lda`).
    packet_bytes: Size of a data packet on the wire, bytes, headers included (default: the scenario's).
    periods: Distribution of the times on and off (on-off; default: exponential).
    rate_bps: Sending rate, bits per second on the wire (cbr; on-off while on; poisson: the mean).
    return_path: The links back (tfrc, tcp and quic only). Default: the path reversed, over links of the same rate,
        delay and queue whose channel is perfect.
    send_jitter_us: Sender jitter, microseconds (0 to 1e6; default: the scenario's).
    shape: Shape of the Pareto distribution, above 1 (on-off with `periods = "pareto"`; default 1.5).
    start_s: Earliest start, seconds (default 0).
    start_spread_s: Every member starts at a random time within this many seconds after `start_s` (default 0).
    stop_s: When the sender stops, seconds (default: never).
    variant: TCP variant, or the one whose controller QUIC has: newreno, cubic or bbr (tcp and quic only; default: the
        one that `[tcp]` names).
    wireless_immune: Whether no channel corrupts its packets (default false).
    """

    def __init__(
        self,
        *,
        name: str,
        protocol: Protocol,
        path: Sequence[str],
        additive_increase_pkts: Quantity | None = None,
        application: Application | None = None,
        arrivals: Arrivals | None = None,
        bytes: Quantity | None = None,
        count: Quantity | None = None,
        header_bytes: Quantity | None = None,
        lda: str | None = None,
        lda_at: LdaAt | None = None,
        links_of: str | None = None,
        mean_off_s: Quantity | None = None,
        mean_on_s: Quantity | None = None,
        measured: bool | None = None,
        packet_bytes: Quantity | None = None,
        periods: Periods | None = None,
        rate_bps: Quantity | None = None,
        return_path: Sequence[str] | None = None,
        send_jitter_us: Quantity | None = None,
        shape: Quantity | None = None,
        start_s: Quantity | None = None,
        start_spread_s: Quantity | None = None,
        stop_s: Quantity | None = None,
        variant: TcpVariant | None = None,
        wireless_immune: bool | None = None,
    ) -> None: ...


class Link(Table):
    """A one-way link with its queue and channel.

    name: The link's name: letters, digits, `-` and `_`.
    rate_bps: Bits per second (above 0).
    delay_ms: Propagation delay, milliseconds (0 or more).
    channel: The channel, which corrupts packets (default: none are corrupted).
    delay_variation: Variable delay that is added to `delay_ms`, independent of the queue (default: none). Its value
        at the end of a packet's transmission counts. A packet that would overtake the one before it arrives together
        with it, except with `reorders`.
    duplication: A share of the packets arrives twice (default: none).
    error_position: Where the channel corrupts packets (default: after their transmission).
    per_flow: Whether every member of a flow group has a copy of its own (`last.1`, `last.2`, …).
    queue: The queue discipline (default: drop-tail).
    queue_bytes: Largest number of waiting bytes, without the packet in transmission; instead of `queue_packets`.
    queue_packets: Largest number of waiting packets, without the one in transmission. Formulas may use this link's
        `rate_bps` and `delay_ms`.
    rate_variation: How the rate varies (default: it does not).
    reordering: A share of the packets is late at the far end, so that later ones overtake it (default: none).
    retransmission: Retransmission by the link layer (default: none): a packet that the channel corrupts is
        transmitted again, and packets are delivered in order.
    slot_ms: Length of a step of the channel, milliseconds (0.001 or more); instead of `slots_per_packet`. The channel
        takes steps whether or not packets are sent. A packet is lost if its transmission overlaps a bad step.
    slots_per_packet: Steps of the channel per packet (1 or more; default 1). A packet is lost if one of its steps is
        bad.
    """

    def __init__(
        self,
        *,
        name: str,
        rate_bps: Quantity,
        delay_ms: Quantity,
        channel: Channel | None = None,
        delay_variation: DelayVariation | None = None,
        duplication: Duplication | None = None,
        error_position: ErrorPosition | None = None,
        per_flow: bool | None = None,
        queue: QueueKind | None = None,
        queue_bytes: Quantity | None = None,
        queue_packets: Quantity | None = None,
        rate_variation: RateVariation | None = None,
        reordering: Reordering | None = None,
        retransmission: Retransmission | None = None,
        slot_ms: Quantity | None = None,
        slots_per_packet: Quantity | None = None,
    ) -> None: ...


class Measure(Table):
    """What is measured, and when.

    bottleneck: The link whose rate is 100 % of the throughput: its name, or a list of choices, of which the first
        with a true `when` is taken. A per-flow link stands for all its copies together. Without a bottleneck there is
        no `thput`.
    cwnd: Whether TCP's congestion window is measured (`cwnd_mean`, `cwnd_max`); it costs a few percent of the run's
        time.
    delays: Whether delays are measured (`rtt_p95`, `delay_p95`, `queueing_p95`, `jitter` and the like), which costs
        time (default: true in `losscause simulate` and `compare`, false elsewhere).
    from_s: Start of the window for throughput and congestion loss, seconds (default 0).
    to_s: End of the window, seconds (default: the end of the run).
    """

    def __init__(
        self,
        *,
        bottleneck: Bottleneck | None = None,
        cwnd: bool | None = None,
        delays: bool | None = None,
        from_s: Quantity | None = None,
        to_s: Quantity | None = None,
    ) -> None: ...


class DropTailQueue(Table):
    """First in, first out; packets that arrive at a full queue are dropped.

    mark_from_packets: A packet is marked if at least this many packets are waiting (1 or more; default: none is
        marked).
    """

    _fixed = {"kind": "drop-tail"}

    def __init__(
        self,
        *,
        mark_from_packets: Quantity | None = None,
    ) -> None: ...


class RedQueue(Table):
    """Random Early Detection (Floyd and Jacobson 1993): packets are dropped with a probability that rises with the
    average queue.

    ecn: Whether packets are marked instead of dropped while the average is below `max_th_packets` (default false).
    gentle: Whether the probability rises from `max_p` to 1 between `max_th_packets` and twice that, instead of
        jumping (default false).
    like_ns2: Whether ns-2.35's rules take the place of the paper's where they differ: no drop unless two packets
        wait, none of the first packet in the band, idle times in whole packets (default false).
    max_p: Probability of a drop as the average reaches `max_th_packets` (above 0, up to 1; default 0.1).
    max_th_packets: From this average on everything is dropped, packets; more than `min_th_packets` (default 15).
    min_th_packets: Below this average nothing is dropped, packets (default 5).
    typical_packet_bytes: Size of a typical packet, bytes: an idle link's average falls once per such packet's time
        (default: the scenario's `packet_bytes`, else 1000).
    w_q: Weight of the momentary queue in the average (above 0, up to 1; default 0.002).
    """

    _fixed = {"kind": "red"}

    def __init__(
        self,
        *,
        ecn: bool | None = None,
        gentle: bool | None = None,
        like_ns2: bool | None = None,
        max_p: Quantity | None = None,
        max_th_packets: Quantity | None = None,
        min_th_packets: Quantity | None = None,
        typical_packet_bytes: Quantity | None = None,
        w_q: Quantity | None = None,
    ) -> None: ...


class PolicerQueue(Table):
    """A token bucket that drops what exceeds a rate, in front of a queue that drops what finds it full.

    rate_bps: The rate at which the bucket fills, bits per second (above 0).
    burst_bytes: What the bucket holds, bytes (1 or more). Larger packets never pass.
    """

    _fixed = {"kind": "policer"}

    def __init__(
        self,
        *,
        rate_bps: Quantity,
        burst_bytes: Quantity,
    ) -> None: ...


class CodelQueue(Table):
    """Controlled delay (RFC 8289): packets are dropped at dequeue while the queueing delay stays above a target.

    ecn: Whether packets are marked instead of dropped (default false).
    interval_ms: How long the delay may stay above the target, milliseconds (the target or more; default 100).
    mtu_bytes: Size of the largest packet, bytes (default 1500). Nothing is dropped while at most so many bytes wait.
    target_ms: The delay that a standing queue may have, milliseconds (above 0; default 5).
    """

    _fixed = {"kind": "codel"}

    def __init__(
        self,
        *,
        ecn: bool | None = None,
        interval_ms: Quantity | None = None,
        mtu_bytes: Quantity | None = None,
        target_ms: Quantity | None = None,
    ) -> None: ...


class FqCodelQueue(Table):
    """Flow queueing with a CoDel per flow (RFC 8290): each flow has its own queue, and the queue of a flow that sends
    little is served first.

    ecn: Whether packets are marked instead of dropped (default false).
    interval_ms: CoDel's interval in each queue, milliseconds (the target or more; default 100).
    mtu_bytes: While no more bytes wait in a queue, it drops nothing: the size of the largest packet (default 1500).
    quantum_bytes: Bytes that a queue may send in a round (1 or more; default 1514).
    queues: Number of queues into which flows are hashed (1 to 65536; default 1024).
    target_ms: CoDel's target in each queue, milliseconds (above 0; default 5).
    """

    _fixed = {"kind": "fq-codel"}

    def __init__(
        self,
        *,
        ecn: bool | None = None,
        interval_ms: Quantity | None = None,
        mtu_bytes: Quantity | None = None,
        quantum_bytes: Quantity | None = None,
        queues: Quantity | None = None,
        target_ms: Quantity | None = None,
    ) -> None: ...


class PieQueue(Table):
    """Proportional integral controller enhanced (RFC 8033): packets are dropped at random on arrival; the probability
    rises with the queueing delay and with its growth.

    alpha: How much a second of delay above the target adds to the probability with each revision (0 or more; default
        0.125).
    beta: How much a second by which the delay grew adds (0 or more; default 1.25).
    ecn: Whether packets are marked instead of dropped while the probability is below 10 % (default false).
    max_burst_ms: How long a burst is let in while there was no congestion, milliseconds (0 or more; default 150).
    mean_packet_bytes: Size of a mean packet, bytes: nothing is dropped at random while no more than two of them wait
        (default: the scenario's `packet_bytes`, else 1000).
    target_ms: The delay that is aimed at, milliseconds (above 0; default 15).
    update_ms: Time between two revisions of the drop probability, milliseconds (above 0; default 15).
    """

    _fixed = {"kind": "pie"}

    def __init__(
        self,
        *,
        alpha: Quantity | None = None,
        beta: Quantity | None = None,
        ecn: bool | None = None,
        max_burst_ms: Quantity | None = None,
        mean_packet_bytes: Quantity | None = None,
        target_ms: Quantity | None = None,
        update_ms: Quantity | None = None,
    ) -> None: ...


class NoneRateVariation(Table):
    """The rate does not vary.
    """

    _fixed = {"kind": "none"}

    def __init__(self) -> None: ...


class StepsRateVariation(Table):
    """In steps; before the first one the link has its `rate_bps`.

    at_end: The rate after the last step (default: the last one's). With `repeat` the last time is the length of a
        round.
    file: A text file with a time in seconds and a rate in bits per second on each line, separated by blanks or a
        comma, in the order of time. A rate of 0 is an outage; `#` begins a comment. Relative to the scenario file.
    points: Instead of `file`: pairs of a time in seconds and a rate in bits per second; times rise.
    """

    _fixed = {"kind": "steps"}

    def __init__(
        self,
        *,
        at_end: AtEnd | None = None,
        file: str | None = None,
        points: Sequence[tuple[Quantity, Quantity] | list[Quantity]] | None = None,
    ) -> None: ...


class MahimahiRateVariation(Table):
    """By the delivery opportunities of a mahimahi trace, which is repeated. `rate_bps` should be their mean rate,
    because a link's utilisation refers to it.

    file: A text file with a time in whole milliseconds on each line; times do not fall. Relative to the scenario
        file.
    opportunity_bytes: What one opportunity delivers, bytes (default 1504).
    """

    _fixed = {"kind": "mahimahi"}

    def __init__(
        self,
        *,
        file: str,
        opportunity_bytes: Quantity | None = None,
    ) -> None: ...


class Reordering(Table):
    """Packets that later ones overtake: by a time (`delay_ms`) or by a distance (`packets`).

    share: Share of the packets that are late, 0 to 1, each independently.
    at_most_ms: With `packets`: a packet goes on after this even if fewer have come, milliseconds (above 0; default
        100).
    delay_ms: How late they are, milliseconds (0 or more).
    drawn: Whether each is late by a uniform draw from 0 to `delay_ms` (default false).
    packets: Instead of `delay_ms`: how many later packets of the link overtake each (1 or more).
    """

    def __init__(
        self,
        *,
        share: Quantity,
        at_most_ms: Quantity | None = None,
        delay_ms: Quantity | None = None,
        drawn: bool | None = None,
        packets: Quantity | None = None,
    ) -> None: ...


class Retransmission(Table):
    """Retransmission by the link layer.

    attempts: The most transmissions of a packet (2 to 1000). Wi-Fi: 7. LTE: 4.
    delay_ms: What each attempt after the first adds to the packet's delay, milliseconds (0 or more; default 0). LTE:
        8.
    """

    def __init__(
        self,
        *,
        attempts: Quantity,
        delay_ms: Quantity | None = None,
    ) -> None: ...


class TcpQuirks(Table):
    """Rules that imitate a version of ns-2. The mode sets all of them; each key here replaces one.

    deflation: What a partial acknowledgement does to the window (recovery newreno).
    fast_retransmit: When fast retransmit may happen at all (recovery reno or newreno, or ns-2's sack).
    fast_retransmit_restarts_timer: Whether fast retransmit restarts the retransmission timer.
    grow_on_recovery_exit: Whether the acknowledgement that ends fast recovery also opens the window (recovery reno,
        fast-retransmit or newreno).
    halving: How a loss shrinks the window (response aimd; after a timeout, also veno and vegas).
    inflation: Which duplicate acknowledgements from the threshold on inflate the window (recovery reno or newreno).
    limited_transmit: What the first duplicate acknowledgements release (every recovery but vegas).
    max_cwnd_pkts: Largest congestion window that acknowledgements open, packets (ns-2 `maxcwnd_`; default no limit).
        Packets that duplicate acknowledgements let out come on top.
    min_rto_of: What the smallest retransmission timeout bounds.
    partial_ack_timer: Which partial acknowledgements restart the retransmission timer (recovery newreno).
    recovery_exit: What the acknowledgement that ends fast recovery does to the window (recovery newreno).
    syn_bytes: Size of the SYN that opens the connection, bytes; 0: no SYN. (With ns-2's Vegas every other value means
        as long as a data packet.) In mode `rfc` only flows with `bytes` have one by default, of 44 bytes.
    tick_ms: Granularity of the clock that measures round-trip times, milliseconds (ns-2 `tcpTick_`).
    """

    def __init__(
        self,
        *,
        deflation: Deflation | None = None,
        fast_retransmit: FastRetransmit | None = None,
        fast_retransmit_restarts_timer: bool | None = None,
        grow_on_recovery_exit: bool | None = None,
        halving: Halving | None = None,
        inflation: Inflation | None = None,
        limited_transmit: LimitedTransmit | None = None,
        max_cwnd_pkts: Quantity | None = None,
        min_rto_of: MinRtoOf | None = None,
        partial_ack_timer: PartialAckTimer | None = None,
        recovery_exit: RecoveryExit | None = None,
        syn_bytes: Quantity | None = None,
        tick_ms: Quantity | None = None,
    ) -> None: ...


class TcpSettings(Table):
    """Settings of every TCP flow. Windows and thresholds count packets.

    ack_bytes: Size of an acknowledgement on the wire, bytes.
    ack_hold_ms: How long the receiver takes packets in before it answers them all with one acknowledgement, as hosts
        that merge packets do (GRO), milliseconds; 0 (default): it answers as they arrive.
    additive_increase_pkts: Packets by which congestion avoidance opens the window per round trip (response aimd;
        above 0, RFC 5681: 1).
    brake: Whether losses are congestion, whatever the sender's algorithm says, after a round that lost more of its
        flight than independent losses explain (mode linux, variants reno and cubic; default true).
    delayed_ack_ms: Longest delay of an acknowledgement, milliseconds; 0: every packet is acknowledged at once.
    dup_ack_threshold: Duplicate acknowledgements that trigger fast retransmit.
    ecn: Whether queues may mark segments instead of dropping them, and marks count as losses (RFC 3168; default
        false).
    guard: Whether a loss is congestion, whatever the sender's algorithm says, if the link stays full after the
        reduction (mode linux, variants reno and cubic; default true).
    initial_rto_ms: Retransmission timeout before the first round-trip time is known, milliseconds.
    initial_ssthresh_pkts: The first slow start threshold, packets.
    initial_window_pkts: The first congestion window, packets (ns-2 `windowInit_`).
    max_rto_ms: Largest retransmission timeout, milliseconds (ns-2 `maxrto_`).
    max_window_pkts: The receiver's window, packets (ns-2 `window_`).
    min_rto_ms: Smallest retransmission timeout, milliseconds (ns-2 `minrto_`); 0: two ticks of the clock are the only
        minimum.
    mode: Where every setting that is not given comes from, those of `[tcp.quirks]` included (default: rfc).
    pacing: Whether packets leave at the rate of cwnd and the round-trip time, as with the queue discipline fq,
        instead of when ACKs come (mode linux, variants reno and cubic; default false; bbr always does).
    quirks: Rules that imitate a version of ns-2, one by one; only reproductions need them.
    recovery: How losses are repaired, in place of the variant's own.
    response: What the window does, in place of the variant's own.
    variant: Which TCP (default: reno). A flow may name another.
    vegas: Thresholds of the response vegas.
    westwood_vt: Thresholds of the response westwood-vt.
    """

    def __init__(
        self,
        *,
        ack_bytes: Quantity | None = None,
        ack_hold_ms: Quantity | None = None,
        additive_increase_pkts: Quantity | None = None,
        brake: bool | None = None,
        delayed_ack_ms: Quantity | None = None,
        dup_ack_threshold: Quantity | None = None,
        ecn: bool | None = None,
        guard: bool | None = None,
        initial_rto_ms: Quantity | None = None,
        initial_ssthresh_pkts: Quantity | None = None,
        initial_window_pkts: Quantity | None = None,
        max_rto_ms: Quantity | None = None,
        max_window_pkts: Quantity | None = None,
        min_rto_ms: Quantity | None = None,
        mode: TcpMode | None = None,
        pacing: bool | None = None,
        quirks: TcpQuirks | None = None,
        recovery: TcpRecovery | None = None,
        response: TcpResponse | None = None,
        variant: TcpVariant | None = None,
        vegas: Vegas | None = None,
        westwood_vt: WestwoodVt | None = None,
    ) -> None: ...


class TfrcQuirks(Table):
    """The rules in which ns-2 differs from RFC 5348.

    discounting: How far older loss intervals are discounted while the open one is long.
    equation: The throughput equation.
    few_intervals: Which closed intervals are averaged with the open one while there are fewer than eight.
    first_interval: The loss interval before the first loss event.
    initial_rate: The rate before the first report, and the one that the first report brings.
    loss_event: What starts a new loss event.
    no_feedback_timer: How long the sender waits for a report before it lowers its rate.
    rate: How the allowed rate follows the reports.
    reports: When the receiver reports.
    rto: The retransmission timeout in the equation.
    rto_minimum_ms: With `rto = "ticks"`: the smallest timeout, milliseconds (default 0).
    rtt_weight: Weight of the old value in the averages of the round-trip time (0 to below 1).
    """

    def __init__(
        self,
        *,
        discounting: Discounting | None = None,
        equation: Equation | None = None,
        few_intervals: FewIntervals | None = None,
        first_interval: FirstInterval | None = None,
        initial_rate: InitialRate | None = None,
        loss_event: LossEvent | None = None,
        no_feedback_timer: NoFeedbackTimer | None = None,
        rate: Rate | None = None,
        reports: Reports | None = None,
        rto: Rto | None = None,
        rto_minimum_ms: Quantity | None = None,
        rtt_weight: Quantity | None = None,
    ) -> None: ...


class TfrcSettings(Table):
    """Settings of every TFRC flow.

    ecn: Whether queues may mark packets instead of dropping them, and marks count as congestion losses (RFC 5348,
        section 5.1; default false). No algorithm is asked about a mark.
    feedback_bytes: Size of a report on the wire, bytes.
    loss_after_pkts: Later packets that must arrive before a missing one is declared lost (1 or more).
    mode: Where every setting that is not given comes from (default: rfc5348).
    quirks: Single rules in which ns-2 differs from the RFC; what is not given is the mode's own.
    spacing: How packets are spaced.
    """

    def __init__(
        self,
        *,
        ecn: bool | None = None,
        feedback_bytes: Quantity | None = None,
        loss_after_pkts: Quantity | None = None,
        mode: TfrcMode | None = None,
        quirks: TfrcQuirks | None = None,
        spacing: Spacing | None = None,
    ) -> None: ...


class Vegas(Table):
    """Thresholds of Vegas, packets in queues (response vegas).

    alpha_pkts: Below it the window grows (default 1; ns-2 `v_alpha_`).
    beta_pkts: Above it the window shrinks (at least `alpha_pkts`; default 3; ns-2 `v_beta_`).
    gamma_pkts: Above it slow start ends (default 1; ns-2 `v_gamma_`).
    """

    def __init__(
        self,
        *,
        alpha_pkts: Quantity | None = None,
        beta_pkts: Quantity | None = None,
        gamma_pkts: Quantity | None = None,
    ) -> None: ...


class WestwoodVt(Table):
    """Thresholds of WestwoodVT, packets in queues (response westwood-vt).

    alpha_pkts: A loss with fewer packets in queues is wireless (default 14).
    beta_pkts: A loss with more packets in queues is congestion (at least `alpha_pkts`; default 16).
    """

    def __init__(
        self,
        *,
        alpha_pkts: Quantity | None = None,
        beta_pkts: Quantity | None = None,
    ) -> None: ...


class Scenario(Table):
    """A losscause scenario: links, flows, and what is measured.

    title: What the scenario is, in a few words.
    duration_s: End of the run, seconds after its start.
    budget: How many times the usual memory (4 GB) and events (10^12) a run may need, above 0 (default: 1).
    fading: The channel of all links with `channel.kind = "fading"`.
    flow: The flows, in groups of equal flows.
    header_bytes: Headers within a data packet, bytes, for flows that do not say otherwise (default: the protocol's
        own).
    lda: Settings of the loss differentiation algorithms, one table each: `[lda.Spike]`.
    link: The links. Flows name them in their paths.
    measure: What is measured, and when.
    packet_bytes: Size of a data packet on the wire, bytes, headers included, for flows that do not say otherwise
        (default: the protocol's own).
    parameters: Names that every formula may use. `--set NAME=VALUE` replaces a value.
    send_jitter_us: Sender jitter of flows that do not say otherwise, microseconds: each packet leaves a uniform draw
        from 0 to this after its sender emits it, without overtaking (0 to 1e6). 0 draws nothing. Default: half of a
        packet's time on the slowest link of the flow's path for tcp in the modes `rfc` and `linux` and tfrc in the
        mode `rfc5348`; else 0.
    source: Source of the scenario, for example a paper and its section.
    tcp: Settings of every TCP flow.
    tfrc: Settings of every TFRC flow.
    """

    def __init__(
        self,
        *,
        title: str,
        duration_s: Quantity,
        budget: Quantity | None = None,
        fading: Fading | None = None,
        flow: Sequence[Flow] | None = None,
        header_bytes: Quantity | None = None,
        lda: LdaSettings | None = None,
        link: Sequence[Link] | None = None,
        measure: Measure | None = None,
        packet_bytes: Quantity | None = None,
        parameters: Mapping[str, Quantity] | None = None,
        send_jitter_us: Quantity | None = None,
        source: str | None = None,
        tcp: TcpSettings | None = None,
        tfrc: TfrcSettings | None = None,
    ) -> None: ...

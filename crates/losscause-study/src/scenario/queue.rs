//! The queue discipline of a link: `queue = { kind = "red", … }`.

use losscause::Span;
use losscause_sim::{CoDelSpec, FqCoDelSpec, Limit, PieSpec, PolicerSpec, QueueSpec, RedSpec};

use super::expression::{Names, Quantity};
use super::format::QueueKind;
use super::reader::{LONGEST_S, Range, Reader};
use crate::{InputError, Limits};

/// Largest gain of PIE, per second.
const LARGEST_GAIN: f64 = 1e6;

/// The queue discipline in the simulator's types. `key` is its key in the file, `packet_bytes` the
/// scenario's value.
pub(super) fn spec(
    queue: &QueueKind,
    limit: Limit,
    key: &str,
    packet_bytes: Option<&Quantity>,
    reader: &Reader,
    names: &Names,
) -> Result<QueueSpec, InputError> {
    let table = Table { key, packet_bytes, reader, names };
    Ok(match queue {
        QueueKind::DropTail { ecn: Some(true), .. } => {
            let problem = "stands in a drop-tail queue, which marks nothing by itself, expected mark_from_packets, or \
                           kind red, codel, fq-codel or pie";
            return Err(table.error("ecn", problem));
        }
        QueueKind::DropTail { mark_from_packets: None, .. } => QueueSpec::DropTail { limit },
        QueueKind::DropTail { mark_from_packets: mark_from, .. } => QueueSpec::StepMark {
            limit,
            mark_from_pkts: table.whole("mark_from_packets", mark_from, 1, u32::MAX, 1)?,
        },
        QueueKind::Policer { rate_bps, burst_bytes } => QueueSpec::Policer(PolicerSpec {
            rate_bps: reader.rate(&table.field("rate_bps"), rate_bps, names)?,
            burst_bytes: reader
                .whole(&table.field("burst_bytes"), burst_bytes, names, 1, u32::MAX)?
                .into(),
            limit,
        }),
        QueueKind::Red { .. } => QueueSpec::Red(table.red(queue, RedSpec::new(limit))?),
        QueueKind::CoDel { target_ms, interval_ms, mtu_bytes, ecn } => QueueSpec::CoDel(
            table.codel(CoDelSpec::new(limit), target_ms, interval_ms, mtu_bytes, *ecn)?,
        ),
        QueueKind::FqCoDel { target_ms, interval_ms, mtu_bytes, quantum_bytes, queues, ecn } => {
            let default = FqCoDelSpec::new(limit);
            QueueSpec::FqCoDel(FqCoDelSpec {
                codel: table.codel(default.codel, target_ms, interval_ms, mtu_bytes, *ecn)?,
                quantum_bytes: table.whole(
                    "quantum_bytes",
                    quantum_bytes,
                    1,
                    u32::MAX,
                    default.quantum_bytes,
                )?,
                queues: table.whole("queues", queues, 1, Limits::SUB_QUEUES, default.queues)?,
            })
        }
        QueueKind::Pie { .. } => QueueSpec::Pie(table.pie(queue, PieSpec::new(limit))?),
    })
}

/// The fields of one `queue = { … }`.
struct Table<'a> {
    key: &'a str,
    packet_bytes: Option<&'a Quantity>,
    reader: &'a Reader<'a>,
    names: &'a Names,
}

impl Table<'_> {
    fn red(&self, queue: &QueueKind, default: RedSpec) -> Result<RedSpec, InputError> {
        let QueueKind::Red {
            min_th_packets,
            max_th_packets,
            max_p,
            w_q,
            gentle,
            like_ns2,
            ecn,
            typical_packet_bytes,
        } = queue
        else {
            return Ok(default);
        };
        let packets = Range::NotNegative(Limits::QUEUE_PACKETS);
        let spec = RedSpec {
            min_th_pkts: self.number(
                "min_th_packets",
                min_th_packets,
                packets,
                default.min_th_pkts,
            )?,
            max_th_pkts: self.number(
                "max_th_packets",
                max_th_packets,
                Range::Positive(Limits::QUEUE_PACKETS),
                default.max_th_pkts,
            )?,
            max_p: self.number("max_p", max_p, Range::Positive(1.0), default.max_p)?,
            w_q: self.number("w_q", w_q, Range::Positive(1.0), default.w_q)?,
            gentle: *gentle,
            like_ns2: *like_ns2,
            ecn: *ecn,
            ..default
        };
        if spec.max_th_pkts <= spec.min_th_pkts {
            let max = spec.max_th_pkts;
            let min = spec.min_th_pkts;
            let problem = format!("is {max}, expected more than min_th_packets, which is {min}");
            return Err(self.error("max_th_packets", &problem));
        }
        let typical = default.typical_packet_bytes;
        Ok(RedSpec {
            typical_packet_bytes: self.packet_size(
                "typical_packet_bytes",
                typical_packet_bytes,
                typical,
            )?,
            ..spec
        })
    }

    fn codel(
        &self,
        default: CoDelSpec,
        target_ms: &Option<Quantity>,
        interval_ms: &Option<Quantity>,
        mtu_bytes: &Option<Quantity>,
        ecn: bool,
    ) -> Result<CoDelSpec, InputError> {
        let target = self.positive_ms("target_ms", target_ms, default.target)?;
        let interval = self.positive_ms("interval_ms", interval_ms, default.interval)?;
        if interval < target {
            let problem = format!("is {interval}, expected at least the target, which is {target}");
            return Err(self.error("interval_ms", &problem));
        }
        let mtu_bytes = self.whole("mtu_bytes", mtu_bytes, 0, u32::MAX, default.mtu_bytes)?;
        Ok(CoDelSpec { target, interval, mtu_bytes, ecn, ..default })
    }

    fn pie(&self, queue: &QueueKind, default: PieSpec) -> Result<PieSpec, InputError> {
        let QueueKind::Pie {
            target_ms,
            update_ms,
            max_burst_ms,
            alpha,
            beta,
            mean_packet_bytes,
            ecn,
        } = queue
        else {
            return Ok(default);
        };
        let gain = Range::NotNegative(LARGEST_GAIN);
        let max_burst_ms = self.number(
            "max_burst_ms",
            max_burst_ms,
            Range::NotNegative(LONGEST_S * 1e3),
            default.max_burst.as_millis_f64(),
        )?;
        Ok(PieSpec {
            limit: default.limit,
            target: self.positive_ms("target_ms", target_ms, default.target)?,
            t_update: self.period_ms("update_ms", update_ms, default.t_update)?,
            max_burst: Span::from_secs_f64_rounded(max_burst_ms / 1e3),
            alpha: self.number("alpha", alpha, gain, default.alpha)?,
            beta: self.number("beta", beta, gain, default.beta)?,
            mean_packet_bytes: self.packet_size(
                "mean_packet_bytes",
                mean_packet_bytes,
                default.mean_packet_bytes,
            )?,
            ecn: *ecn,
        })
    }

    /// A typical packet: the queue's own, else the scenario's.
    fn packet_size(
        &self,
        name: &str,
        own: &Option<Quantity>,
        default: u32,
    ) -> Result<u32, InputError> {
        match (own, self.packet_bytes) {
            (None, Some(common)) => {
                self.reader.whole("packet_bytes", common, self.names, 1, 65_535)
            }
            _ => self.whole(name, own, 1, 65_535, default),
        }
    }

    fn positive_ms(
        &self,
        name: &str,
        given: &Option<Quantity>,
        default: Span,
    ) -> Result<Span, InputError> {
        let ms =
            self.number(name, given, Range::Positive(LONGEST_S * 1e3), default.as_millis_f64())?;
        Ok(Span::from_secs_f64_rounded(ms / 1e3).max(Span::from_nanos(1)))
    }

    fn period_ms(
        &self,
        name: &str,
        given: &Option<Quantity>,
        default: Span,
    ) -> Result<Span, InputError> {
        let ms = self.number(name, given, Range::PERIOD_MS, default.as_millis_f64())?;
        Ok(Span::from_secs_f64_rounded(ms / 1e3))
    }

    fn number(
        &self,
        name: &str,
        given: &Option<Quantity>,
        range: Range,
        default: f64,
    ) -> Result<f64, InputError> {
        given.as_ref().map_or(Ok(default), |given| {
            self.reader.number(&self.field(name), given, self.names, range)
        })
    }

    fn whole(
        &self,
        name: &str,
        given: &Option<Quantity>,
        least: u32,
        most: u32,
        default: u32,
    ) -> Result<u32, InputError> {
        given.as_ref().map_or(Ok(default), |given| {
            self.reader.whole(&self.field(name), given, self.names, least, most)
        })
    }

    fn error(&self, name: &str, problem: &str) -> InputError {
        self.reader.error(&self.field(name), problem)
    }

    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.key)
    }
}

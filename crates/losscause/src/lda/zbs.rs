//! ZBS: runs ZigZag, mBiaz or Spike, whichever suits the path it sees.
//!
//! mBiaz is best on a wireless bottleneck that nobody shares, Spike on one that several flows share, ZigZag where one
//! cannot tell. Packets that arrive one smallest inter-arrival time (T_min) apart have the link to themselves; among N
//! flows they come about N T_min apart:
//!
//!     T_avg  <- 0.875 T_avg + 0.125 inter_arr_time / pkts        T_narr = T_avg / T_min
//!     Spike   if  rott < rott_min + 0.05 T_min          (the bottleneck is idle)
//!     ZigZag  else if T_narr < 0.875
//!     mBiaz   else if T_narr < 1.5
//!     ZigZag  else if T_narr < 2
//!     Spike   else
//!
//! pkts is the distance of the two arrivals in sequence numbers. ZBS starts with ZigZag. A scheme is locked for 3 s or 50
//! received packets, whichever comes first; a change of scheme starts the lock again; after a lock has expired
//! without a change, the rule is applied with every arrival. Every base scheme is kept up to date with every arrival.
//!
//! Source: Cen, Cosman & Voelker 2003, section VII-A, figure 10.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `rott_margin` | T_min | 0.05 | not negative |
//! | `unshared_from`, `ambiguous_from`, `shared_from` | T_narr | 0.875, 1.5, 2 | rising |
//! | `t_avg_gain` | | 0.125 | above 0, to 1 |
//! | `lock` | s | 3 | not negative |
//! | `lock_pkts` | packets | 50 | |
//! | `lock_at_start` | | true | see below |
//! | `first_t_avg` | | first-interval | see below |
//! | `update` | | every-arrival | see below |
//! | `mbiaz`, `spike`, `zigzag` | | the published ones | the base schemes' own |
//!
//! Deviations: none. What the paper leaves open:
//!
//! - *Is the first scheme locked?* Yes: the lock is the shortest time that a scheme is used, and ZigZag is chosen for
//!   the start because nothing is known then. `lock_at_start = false` leaves it open to the first arrival.
//! - *How T_avg begins:* with the first interval, which is the only reading that favours no scheme. `zero` lets it climb
//!   from zero, as a program would that never sets it: ZigZag for the first dozen packets.
//! - *When may the scheme change?* With every arrival, as the text says; Table IV computes T_narr and the lock only after
//!   a loss: `update = "at-losses"`.
//! - As long as T_min or ROTT are unknown, the scheme stays.

use super::{Biaz, BiazConfig, Lda, Needs, Spike, SpikeConfig, Update, ZigZag, ZigZagConfig};
use crate::filter::{Mean, Real};
use crate::registry::{ConfigError, check, check_order, choice};
use crate::{Arrival, Judgement, Loss, Span, Time};

/// ZBS.
#[derive(Clone, Copy, Debug)]
pub struct Zbs {
    rott_margin: Real,
    unshared_from: Real,
    ambiguous_from: Real,
    shared_from: Real,
    lock_span: Span,
    lock_pkts: u32,
    update: Update,
    mbiaz: Biaz,
    spike: Spike,
    zigzag: ZigZag,
    t_avg: Mean,
    scheme: Scheme,
    lock: Lock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    ZigZag,
    MBiaz,
    Spike,
}

/// Whether the scheme may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    /// It may not, from the first arrival on.
    FromFirstArrival,
    /// It may not, until that instant or for that many arrivals.
    Until { at: Time, arrivals_left: u32 },
    /// It may.
    Open,
}

/// Parameters of [`Zbs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZbsConfig {
    /// Spike if rott < rott_min + `rott_margin` T_min; not negative.
    pub rott_margin: f64,
    /// The T_narr from which the link counts as not shared (mBiaz).
    pub unshared_from: f64,
    /// The T_narr from which one cannot tell (ZigZag).
    pub ambiguous_from: f64,
    /// The T_narr from which the link counts as shared (Spike).
    pub shared_from: f64,
    /// Gain of T_avg, above 0 to 1.
    pub t_avg_gain: f64,
    /// The longest time that a scheme is locked.
    pub lock: Span,
    /// The most received packets that a scheme is locked.
    pub lock_pkts: u32,
    /// Whether the first scheme is locked too.
    pub lock_at_start: bool,
    /// How T_avg begins.
    pub first_t_avg: FirstAverage,
    /// When the scheme may change.
    pub update: Update,
    /// The base scheme mBiaz.
    pub mbiaz: BiazConfig,
    /// The base scheme Spike.
    pub spike: SpikeConfig,
    /// The base scheme ZigZag.
    pub zigzag: ZigZagConfig,
}

choice! {
    /// How T_avg begins.
    pub enum FirstAverage {
        /// With the first interval.
        #[default]
        FirstInterval = "first-interval",
        /// At zero, from where the intervals pull it up.
        Zero = "zero",
    }
}

impl Default for ZbsConfig {
    fn default() -> Self {
        Self {
            rott_margin: 0.05,
            unshared_from: 0.875,
            ambiguous_from: 1.5,
            shared_from: 2.0,
            t_avg_gain: 0.125,
            lock: Span::from_secs(3),
            lock_pkts: 50,
            lock_at_start: true,
            first_t_avg: FirstAverage::FirstInterval,
            update: Update::EveryArrival,
            mbiaz: BiazConfig::modified(),
            spike: SpikeConfig::default(),
            zigzag: ZigZagConfig::default(),
        }
    }
}

impl Zbs {
    /// A fresh ZBS.
    ///
    /// # Errors
    /// If a parameter is out of range or the limits of T_narr do not rise.
    pub fn new(config: &ZbsConfig) -> Result<Self, ConfigError> {
        let c = config;
        check("rott_margin", c.rott_margin, |m| m >= 0.0, "a number that is not negative")?;
        check("unshared_from", c.unshared_from, |t| t >= 0.0, "a number that is not negative")?;
        check("ambiguous_from", c.ambiguous_from, |_| true, "a number")?;
        check("shared_from", c.shared_from, |_| true, "a number")?;
        check_order(("unshared_from", c.unshared_from), ("ambiguous_from", c.ambiguous_from))?;
        check_order(("ambiguous_from", c.ambiguous_from), ("shared_from", c.shared_from))?;
        check("t_avg_gain", c.t_avg_gain, |g| g > 0.0 && g <= 1.0, "a number above 0, up to 1")?;
        check("lock_ms", c.lock.as_nanos_f64() / 1e6, |l| l >= 0.0, "a number that is not negative")?;
        Ok(Self {
            rott_margin: Real::new(c.rott_margin),
            unshared_from: Real::new(c.unshared_from),
            ambiguous_from: Real::new(c.ambiguous_from),
            shared_from: Real::new(c.shared_from),
            lock_span: c.lock,
            lock_pkts: c.lock_pkts,
            update: c.update,
            mbiaz: Biaz::new(&c.mbiaz)?,
            spike: Spike::new(&c.spike)?,
            zigzag: ZigZag::new(&c.zigzag)?,
            t_avg: match c.first_t_avg {
                FirstAverage::FirstInterval => Mean::new(c.t_avg_gain),
                FirstAverage::Zero => Mean::from_zero(c.t_avg_gain),
            },
            scheme: Scheme::ZigZag,
            lock: if c.lock_at_start { Lock::FromFirstArrival } else { Lock::Open },
        })
    }

    /// Whether the scheme is still locked at this arrival; counts it.
    #[inline]
    fn is_locked(&mut self, now: Time) -> bool {
        match &mut self.lock {
            Lock::Open => return false,
            Lock::FromFirstArrival => self.lock = self.lock_from(now),
            Lock::Until { at, arrivals_left } => {
                *arrivals_left = arrivals_left.saturating_sub(1);
                if *arrivals_left == 0 || now - *at >= Span::ZERO {
                    self.lock = Lock::Open;
                    return false;
                }
            }
        }
        true
    }

    fn lock_from(&self, now: Time) -> Lock {
        if self.lock_pkts == 0 {
            return Lock::Open;
        }
        Lock::Until { at: now + self.lock_span, arrivals_left: self.lock_pkts }
    }

    /// The scheme that suits the path; none if too little is known.
    #[inline]
    fn choose(&self, rott: Option<Span>) -> Option<Scheme> {
        let t_min = Real::from_span(self.mbiaz.t_min()?);
        let above_min = Real::from_span(self.spike.extremes().above_min(rott?)?);
        Some(self.predicate(above_min, t_min, self.t_avg.get()?))
    }

    /// Section VII-A. T_narr < x is asked as T_avg < x T_min.
    #[inline]
    fn predicate(&self, rott_above_min: Real, t_min: Real, t_avg: Real) -> Scheme {
        if rott_above_min < self.rott_margin * t_min {
            Scheme::Spike
        } else if t_avg < self.unshared_from * t_min {
            Scheme::ZigZag
        } else if t_avg < self.ambiguous_from * t_min {
            Scheme::MBiaz
        } else if t_avg < self.shared_from * t_min {
            Scheme::ZigZag
        } else {
            Scheme::Spike
        }
    }
}

impl Lda for Zbs {
    fn name(&self) -> &'static str {
        "ZBS"
    }

    fn needs(&self) -> Needs {
        Needs { sender_timestamp: true, inter_arrival: true, truth: false }
    }

    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival) {
        self.mbiaz.on_arrival(arrival);
        self.spike.on_arrival(arrival);
        self.zigzag.on_arrival(arrival);
        if let Some(interval) = arrival.since_last {
            let span = Real::from_span(interval.span);
            self.t_avg.observe(if interval.packets == 1 { span } else { span.per(interval.packets) });
        }
        if self.is_locked(arrival.at) || !self.update.is_due(arrival) {
            return;
        }
        if let Some(next) = self.choose(arrival.rott)
            && next != self.scheme
        {
            self.scheme = next;
            self.lock = self.lock_from(arrival.at);
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        match self.scheme {
            Scheme::ZigZag => self.zigzag.judge(loss),
            Scheme::MBiaz => self.mbiaz.judge(loss),
            Scheme::Spike => self.spike.judge(loss),
        }
    }

    fn scheme(&self) -> &'static str {
        match self.scheme {
            Scheme::ZigZag => "ZigZag",
            Scheme::MBiaz => "mBiaz",
            Scheme::Spike => "Spike",
        }
    }
}

//! Congestion control: how the window answers to acknowledgements and losses. One file per control.
//!
//! Both machines, that of the RFCs and ns-2 (`classic.rs`) and that of Linux (`linux/`), drive any
//! [`CongestionControl`]. A published control is one file and one line of the list below;
//! [`OwnControl`] is one of another crate.

use core::fmt;

use losscause::{Span, Time};

use super::config::Config;
use super::loss_event::{Answer, LossEvent};
use super::window::Window;

mod ack_event;
mod aimd;
pub(super) mod cubic;
mod delivered;
mod new_jersey;
mod own;
mod vegas;
mod veno;
mod westwood;
mod westwood_ns2;
mod westwood_vt;

#[cfg(test)]
pub(super) mod tests;

pub use ack_event::{
    AckEvent, Delivery, Growth, Pacing, RateSample, Repair, RttSample, TimeoutEvent,
};
pub use own::OwnControl;
pub use vegas::VegasParameters;
pub use westwood_vt::WestwoodVtParameters;

/// What sets the congestion window of a connection.
///
/// Loss recovery decides what is sent again, an [`Algorithm`](losscause::Algorithm) why a packet
/// was lost; a congestion control decides what the window does about it. Its state is per
/// connection. It has no clock: every event says when it was.
///
/// A control leaves `cwnd` and `ssthresh` finite, and `cwnd` at least 1.
///
/// ```
/// use losscause::{Span, Time, Verdict};
/// use losscause_transport::tcp::{
///     AckEvent, Answer, CongestionControl, Growth, LossEvent, RttSample, Sending, TimeoutEvent,
///     Window,
/// };
///
/// /// Grows by a packet per round trip of at most 50 ms. Halves, unless the air lost a packet once.
/// #[derive(Clone, Debug, Default)]
/// struct Impatient {
///     rtt: Span,
/// }
///
/// impl CongestionControl for Impatient {
///     fn name(&self) -> &'static str {
///         "impatient"
///     }
///     fn on_rtt(&mut self, _: &mut Window, sample: &RttSample) {
///         self.rtt = sample.rtt;
///     }
///     fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
///         if acked.growth == Growth::Due && self.rtt <= Span::from_millis(50) {
///             window.grow_by(acked.newly_acked_pkts as f64 / window.cwnd);
///         }
///     }
///     fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
///         let again = matches!(loss.sending, Some(Sending { times: 2.., .. }));
///         if loss.verdict == Verdict::Wireless && !again {
///             return Answer::Kept;
///         }
///         window.ssthresh = (window.cwnd / 2.0).max(2.0);
///         window.cwnd = window.ssthresh;
///         Answer::Cut
///     }
///     fn on_timeout(&mut self, window: &mut Window, _: &TimeoutEvent) {
///         window.cwnd = 1.0;
///     }
/// }
///
/// let mut window = Window { cwnd: 10.0, ssthresh: 20.0, max_pkts: 100 };
/// let sending = Some(Sending { at: None, times: 1 });
/// let loss = LossEvent { at: Time::ZERO, flight_pkts: 10, verdict: Verdict::Wireless, sending };
/// assert_eq!(Impatient::default().on_loss(&mut window, &loss), Answer::Kept);
/// ```
///
/// | machine | order of calls for one ACK |
/// |---|---|
/// | RFCs and ns-2 | `on_mark`; for a duplicate `on_dup_ack`, `on_loss`; for new data `on_ack`, and for the SYN `on_open` |
/// | Linux | `on_rtt`; for the SYN `on_open`, else `on_mark` or `on_loss`, then `on_ack` for new data or `on_dup_ack`; a control that follows rates: `on_delivery` |
pub trait CongestionControl: fmt::Debug + Send {
    /// The name: "CUBIC".
    fn name(&self) -> &'static str;

    /// The SYN was acknowledged: data starts to flow with a window of `initial_pkts`. A connection
    /// without SYN starts with it, and this is not called.
    fn on_open(&mut self, window: &mut Window, initial_pkts: u32) {
        window.restart(initial_pkts);
    }

    /// New data was acknowledged. The window may grow if `acked.growth` is [`Growth::Due`].
    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent);

    /// Linux's machine measured a round-trip time, by new data or by a report, and has not yet
    /// looked for losses: the place of the kernel's `pkts_acked`. Other machines tell it by
    /// [`AckEvent::rtt`] alone.
    fn on_rtt(&mut self, window: &mut Window, sample: &RttSample) {
        let _ = (window, sample);
    }

    /// An ACK arrived that acknowledges nothing new: a packet has left the network.
    fn on_dup_ack(&mut self, now: Time) {
        let _ = now;
    }

    /// A queue marked a packet (ECN, RFC 3168); nothing was lost. At most once per window of data.
    fn on_mark(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        self.on_loss(window, loss)
    }

    /// A loss was detected. Called once per recovery; again only if the window was kept and the
    /// algorithm calls a further loss congestion. `loss.verdict` says why the packet was lost.
    ///
    /// [`Answer::Cut`] means that the window was reduced. `cwnd` is then where recovery ends; Linux
    /// approaches it packet by packet (RFC 6937).
    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer;

    /// The retransmission timer expired. The window restarts at one packet (RFC 5681, section 3.1,
    /// equation 4 and after), or where the control's own paper says; in Linux's machine at one more
    /// than it still counts in flight, whatever the control leaves.
    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent);

    /// The share of the window that a cut keeps, 1/1024, from 0 to 1024; none if it is not fixed.
    /// The guard needs it ([`Watch`](losscause::safeguard::Watch)).
    fn kept_1024(&self) -> Option<u32> {
        None
    }

    /// Linux's machine: whether the control follows delivery rates and sets the window at every ACK
    /// by itself (the kernel's `cong_control`). The machine then measures the rates and calls
    /// [`on_delivery`](Self::on_delivery) in place of [`on_ack`](Self::on_ack) and
    /// [`on_dup_ack`](Self::on_dup_ack), and neither reduces the window in a recovery (RFC 6937) nor
    /// restores it after one that was needless. Other machines never ask.
    fn follows_rate(&self) -> bool {
        false
    }

    /// An ACK arrived, and losses were looked for.
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        let _ = (window, delivery);
    }

    /// Whether the control itself holds the flow below what the path carries, so that rates of
    /// packets sent now are [limited](RateSample::is_limited). Asked after
    /// [`on_delivery`](Self::on_delivery).
    fn limits_rate(&self) -> bool {
        false
    }

    /// Linux's machine: how fast packets leave. Without an answer, and if
    /// [`Config::pacing`](super::Config::pacing) is set, by cwnd and the round-trip time.
    fn pacing(&self) -> Option<Pacing> {
        None
    }

    /// Linux's machine: the flow sends again after it had nothing to send and everything was
    /// acknowledged.
    fn on_restart(&mut self, window: &mut Window, now: Time) {
        let _ = (window, now);
    }

    /// Linux's machine: the application has data again. Nothing was outstanding, and nothing was sent
    /// for `idle`.
    fn on_idle(&mut self, idle: Span) {
        let _ = idle;
    }

    /// Linux's machine: a recovery or a timeout proved needless, and cwnd and ssthresh are about to
    /// return to at least what they were.
    fn on_undo(&mut self) {}
}

/// A control that can be copied with its connection.
pub(crate) trait Cloneable: CongestionControl {
    fn clone_boxed(&self) -> Box<dyn Cloneable>;
}

impl<T: CongestionControl + Clone + 'static> Cloneable for T {
    fn clone_boxed(&self) -> Box<dyn Cloneable> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Cloneable> {
    fn clone(&self) -> Self {
        (**self).clone_boxed()
    }
}

/// Declares the list of controls: the name of each in scenarios, and what builds it from its
/// parameters.
macro_rules! controls {
    ($($(#[$doc:meta])+ $name:ident $(($parameters:ident: $kind:ty))? = $text:literal, $summary:literal,
        $control:ty;)+) => {
        /// What the window does on acknowledgements and losses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ResponseScheme {
            $($(#[$doc])+ $name $(($kind))?,)+
            /// The response of another crate.
            Own(OwnControl),
        }

        impl ResponseScheme {
            /// The published ones, with their published parameters.
            pub const PUBLISHED: &[Self] = &[$(Self::$name $((<$kind>::PUBLISHED))?),+];

            /// The name in scenarios.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $text,)+
                    Self::Own(own) => own.name(),
                }
            }

            /// What it does, in one sentence.
            pub const fn summary(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $summary,)+
                    Self::Own(own) => own.summary(),
                }
            }

            /// The control of a connection with this configuration.
            pub(super) fn build(self, config: &Config) -> Box<dyn Cloneable> {
                match self {
                    $(Self::$name $(($parameters))? => Box::new(<$control>::new(config $(, $parameters)?)),)+
                    Self::Own(own) => own.build(config),
                }
            }
        }
    };
}

controls! {
    /// RFC 5681: one packet more per round trip, half after a loss.
    Aimd = "aimd", "Additive increase, multiplicative decrease (RFC 5681).", aimd::Aimd;
    /// Brakmo and Peterson 1995: the window keeps a few packets in queues.
    Vegas(parameters: VegasParameters) = "vegas", "Vegas: it follows the packets in queues.", vegas::Vegas;
    /// Fu and Liew 2003: cuts the window by a fifth if few packets are queued, else by half.
    Veno = "veno", "Veno: it loses less while few packets wait.", veno::Veno;
    /// RFC 9438: a cubic function of the time since the last loss.
    Cubic = "cubic", "CUBIC (RFC 9438).", cubic::Cubic;
    /// Mascolo et al. 2001: after a loss, cwnd falls to the estimated bandwidth-delay product.
    Westwood = "westwood", "Westwood: after a loss it falls to the estimated bandwidth-delay product.",
        westwood::Westwood;
    /// Koo, Mun and Choo 2007: as Westwood if the queues are full, else no cut.
    WestwoodVt(parameters: WestwoodVtParameters) = "westwood-vt", "WestwoodVT: the same, if queues are full.",
        westwood_vt::WestwoodVt;
    /// Xu, Tian and Ansari 2005: on ECN marks, cwnd becomes the estimated bandwidth-delay product.
    /// Requires [`Config::ecn`].
    NewJersey = "new-jersey", "New Jersey: on ECN marks it becomes the estimated bandwidth-delay product.",
        new_jersey::NewJersey;
    /// Cardwell et al. 2016, as in Linux: paces at the estimated bandwidth. Only with Linux's
    /// recovery.
    Bbr = "bbr", "BBR (version 1): it paces at the estimated bandwidth; only in mode linux.",
        super::linux::Bbr;
}

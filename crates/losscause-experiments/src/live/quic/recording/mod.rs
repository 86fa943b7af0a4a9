//! A congestion controller that passes every call on to another one, and enters it in a
//! [`Ledger`](super::ledger::Ledger): one for each implementation of QUIC.
//!
//! It enters the number of every packet that is sent, and the beginning and end of every batch of
//! losses. The implementations' own controllers have no observers, so this is how their losses are
//! counted too.

mod noq;
mod quinn;

pub(super) use noq::RecordingFactory as NoqRecording;
pub(super) use quinn::RecordingFactory as QuinnRecording;

/// Defines the factory and its controller with the types of an implementation, which is named
/// `proto` in the module of the call. `$own`: the calls that quinn and noq make differently.
macro_rules! recording {
    ($($own:tt)*) => {
        use std::any::Any;
        use std::sync::Arc;
        use std::time::Instant;

        use proto::RttEstimator;
        use proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

        use crate::live::quic::clock::Clock;
        use crate::live::quic::ledger::Ledger;

        /// Builds [`RecordingController`]s around the controllers of another factory.
        pub(in crate::live::quic) struct RecordingFactory {
            pub(in crate::live::quic) factory: Arc<dyn ControllerFactory + Send + Sync>,
            pub(in crate::live::quic) ledger: Ledger,
            pub(in crate::live::quic) clock: Clock,
        }

        /// A controller whose calls are entered in a [`Ledger`].
        struct RecordingController {
            controller: Box<dyn Controller>,
            ledger: Ledger,
            clock: Clock,
        }

        impl ControllerFactory for RecordingFactory {
            fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
                Box::new(RecordingController {
                    controller: self.factory.clone().build(now, current_mtu),
                    ledger: self.ledger.clone(),
                    clock: self.clock,
                })
            }
        }

        impl Controller for RecordingController {
            $($own)*

            fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
                self.ledger.sent(last_packet_number);
                self.controller.on_sent(now, bytes, last_packet_number);
            }

            fn on_end_acks(
                &mut self,
                now: Instant,
                in_flight: u64,
                app_limited: bool,
                largest_packet_num_acked: Option<u64>,
            ) {
                self.controller.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
            }

            fn on_mtu_update(&mut self, new_mtu: u16) {
                self.controller.on_mtu_update(new_mtu);
            }

            fn window(&self) -> u64 {
                self.controller.window()
            }

            fn metrics(&self) -> ControllerMetrics {
                self.controller.metrics()
            }

            fn clone_box(&self) -> Box<dyn Controller> {
                Box::new(Self {
                    controller: self.controller.clone_box(),
                    ledger: self.ledger.clone(),
                    clock: self.clock,
                })
            }

            fn initial_window(&self) -> u64 {
                self.controller.initial_window()
            }

            fn into_any(self: Box<Self>) -> Box<dyn Any> {
                self.controller.into_any()
            }
        }
    };
}

use recording;

//! The priority of the link's thread.

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// Asks for a real-time priority (SCHED_FIFO) and the finest timers for the calling thread, as
/// [`EmulatedLink::run`](super::EmulatedLink::run) does. Returns whether it got the priority:
/// without it the link works as well, only later.
pub fn take_real_time_priority() -> bool {
    // At worst, timers are 50 µs late.
    let _ = nix::sys::prctl::set_timerslack(1);
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let Ok(middle) = 50_u8.try_into().map(ThreadPriority::Crossplatform) else { return false };
    set_thread_priority_and_policy(thread_native_id(), middle, fifo).is_ok()
}

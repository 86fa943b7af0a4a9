//! Congestion control for the running kernel: eBPF programs, and their loader.

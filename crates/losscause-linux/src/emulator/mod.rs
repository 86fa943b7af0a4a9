//! A link between two network namespaces, made of the simulator's queues and channels, with a real clock.

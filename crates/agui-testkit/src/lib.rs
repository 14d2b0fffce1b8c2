//! Kernels for tests, benches and the demo: scripted, replayed, faulty.

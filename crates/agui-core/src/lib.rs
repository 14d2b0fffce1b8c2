//! AG-UI 1.0: events, run input, messages, interrupts, codec and stream verifier.

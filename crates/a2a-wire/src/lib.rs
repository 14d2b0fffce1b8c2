//! The A2A subset that a client speaks, 1.0 and 0.3, borrowed and open.

//! A2A events in, AG-UI events out: a machine without IO.

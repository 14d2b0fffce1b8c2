//! AG-UI over HTTP: routes, limits, event streams, shutdown.

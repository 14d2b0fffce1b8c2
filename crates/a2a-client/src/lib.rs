//! A2A JSON-RPC client on hyper: calls, streams, iac-code's extension endpoints.

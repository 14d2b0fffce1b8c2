//! Who may call: bearer tokens.

//! Events outside the vocabulary.

use crate::Json;

event! {
    /// An event of another system, passed through.
    pub struct Raw("RAW", tagged) {
        required {
            /// The event; `null` is a value.
            event: Json = "event",
        }
        optional {
            /// The system it comes from.
            source: String = "source", with_source, plain;
        }
    }
}

event! {
    /// An event of an extension.
    pub struct Custom("CUSTOM", tagged) {
        required {
            /// Name of the extension event, with a vendor prefix.
            name: String = "name",
            /// Its value; `null` is a value.
            value: Json = "value",
        }
        optional {}
    }
}

//! The shared parts of events, written once.

/// Defines one event: a record with the members of [`EventBase`](super::EventBase) and, if `tagged`,
/// the subagent it belongs to.
macro_rules! event {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($derive:ident)])?
        pub struct $name:ident($tag:literal, tagged $(, $fixed_key:literal: $fixed:literal)?) {
            required { $($required:tt)* }
            optional { $($optional:tt)* }
        }
    ) => {
        event! {
            $(#[doc = $doc])*
            $(#[derive($derive)])?
            pub struct $name($tag, untagged $(, $fixed_key: $fixed)?) {
                required { $($required)* }
                optional {
                    $($optional)*
                    /// The subagent invocation this belongs to; absent means the parent agent.
                    subagent_run_id: $crate::SubagentRunId = "subagentRunId", with_subagent_run_id, plain;
                }
            }
        }
    };
    (
        $(#[doc = $doc:literal])*
        $(#[derive($derive:ident)])?
        pub struct $name:ident($tag:literal, untagged $(, $fixed_key:literal: $fixed:literal)?) {
            required { $($required:tt)* }
            optional { $($optional:tt)* }
        }
    ) => {
        record! {
            $(#[doc = $doc])*
            $(#[derive($derive)])?
            pub struct $name tag("type": $tag) $(tag($fixed_key: $fixed))? {
                required { $($required)* }
                optional { $($optional)* }
                inline {
                    /// Members that every event may carry.
                    base: $crate::EventBase = ["timestamp", "rawEvent", "metadata"]
                }
            }
        }

        impl $name {
            /// Sets the time of the event.
            #[must_use]
            pub fn with_timestamp(mut self, at: $crate::UnixMillis) -> Self {
                self.base.timestamp = Some($crate::event::millis(at));
                self
            }

            /// Sets the provider event that this one was made from.
            #[must_use]
            pub fn with_raw_event(mut self, raw_event: impl Into<$crate::Json>) -> Self {
                self.base.raw_event = Some(raw_event.into());
                self
            }

            /// Sets the metadata.
            #[must_use]
            pub fn with_metadata(mut self, metadata: impl Into<$crate::JsonObject>) -> Self {
                self.base.metadata = Some(metadata.into());
                self
            }
        }
    };
}

/// Gives the subagent tag of an event, if the event has one.
macro_rules! subagent_tag {
    (untagged, $event:ident) => {{
        let _ = $event;
        None
    }};
    (tagged, $event:ident) => {
        $event.subagent_run_id.as_ref()
    };
    (subject, $event:ident) => {
        Some(&$event.subagent_run_id)
    };
}

/// Sets the subagent tag of an event, if the event has one to set.
macro_rules! set_subagent_tag {
    (tagged, $event:ident, $owner:ident) => {
        $event.subagent_run_id = $owner
    };
    ($other:ident, $event:ident, $owner:ident) => {{
        let _ = $event;
    }};
}

/// Defines [`Event`](super::Event) and [`EventType`](super::EventType) from one list.
macro_rules! event_table {
    ($($name:ident $wire:literal $tag:ident,)*) => {
        /// One event of a run.
        ///
        /// ```
        /// use agui_core::{Event, EventType, RunStarted};
        ///
        /// let event = Event::from(RunStarted::new("t1", "r1").with_protocol_version("1.0"));
        /// assert_eq!(event.event_type(), EventType::RunStarted);
        /// let mut line = Vec::new();
        /// event.to_json_into(&mut line)?;
        /// let json = br#"{"type":"RUN_STARTED","threadId":"t1","runId":"r1","protocolVersion":"1.0"}"#;
        /// assert_eq!(line, json);
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        ///
        /// Source: AG-UI 1.0, "Events".
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Event {
            $(
                #[doc = concat!("`", $wire, "`.")]
                $name($name),
            )*
        }

        /// The type of an event.
        ///
        /// Source: AG-UI 1.0, "Events".
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum EventType {
            $(
                #[doc = concat!("`", $wire, "`.")]
                $name,
            )*
        }

        impl EventType {
            /// Every type, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $wire,)*
                }
            }
        }

        impl Event {
            /// The type of this event.
            #[must_use]
            pub const fn event_type(&self) -> EventType {
                match self {
                    $(Self::$name(_) => EventType::$name,)*
                }
            }

            /// The members that every event may carry.
            #[must_use]
            pub const fn base(&self) -> &EventBase {
                match self {
                    $(Self::$name(event) => &event.base,)*
                }
            }

            /// The members that every event may carry, for change.
            pub const fn base_mut(&mut self) -> &mut EventBase {
                match self {
                    $(Self::$name(event) => &mut event.base,)*
                }
            }

            /// The subagent invocation that this event belongs to or is about.
            #[must_use]
            pub fn subagent_run_id(&self) -> Option<&$crate::SubagentRunId> {
                match self {
                    $(Self::$name(event) => subagent_tag!($tag, event),)*
                }
            }

            /// Says whose the event is; no effect on events of the run and of subagents themselves.
            pub(crate) fn set_owner(&mut self, owner: Option<$crate::SubagentRunId>) {
                match self {
                    $(Self::$name(event) => set_subagent_tag!($tag, event, owner),)*
                }
            }

            fn decode_as(
                event_type: EventType,
                value: &serde_json::value::RawValue,
                at: &$crate::decode::Path<'_>,
                reader: &mut Reader,
            ) -> Result<Self, DecodeError> {
                use $crate::decode::Decode;
                match event_type {
                    $(EventType::$name => $name::decode(value, at, reader).map(Self::$name),)*
                }
            }
        }

        named_schema!(Event, |generator| {
            $crate::schema::one_of("One event of a run.", vec![$(generator.subschema_for::<$name>()),*])
        });

        impl Serialize for Event {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$name(event) => event.serialize(serializer),)*
                }
            }
        }

        $(
            impl From<$name> for Event {
                fn from(event: $name) -> Self {
                    Self::$name(event)
                }
            }
        )*
    };
}

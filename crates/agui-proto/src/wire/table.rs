//! The table form of messages.

/// Defines a message. Each field has a Rust type, the JSON member and how that is written, and the
/// attributes of its wire form.
macro_rules! message {
    ($(#[doc = $doc:literal])* $name:ident {
        $($field:ident: $ty:ty = $key:literal $how:ident [$($wire:tt)*],)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, prost::Message)]
        pub(crate) struct $name {
            $(#[prost($($wire)*)] pub(crate) $field: $ty,)*
        }

        impl $crate::json::Members for $name {
            fn members(&self, object: &mut $crate::json::Object<'_>) -> Result<(), $crate::ProtoError> {
                $(object.$how($key, &self.$field)?;)*
                Ok(())
            }
        }
    };
}

/// Defines a message whose fields are those of the type of the same name in `agui-core`.
macro_rules! mirror {
    ($(#[doc = $doc:literal])* $name:ident {
        $($field:ident: $ty:ty = $key:literal $how:ident [$($wire:tt)*],)*
    }) => {
        message! {
            $(#[doc = $doc])*
            $name { $($field: $ty = $key $how [$($wire)*],)* }
        }

        impl $crate::wire::Mirror<agui_core::$name> for $name {
            fn mirror(of: &agui_core::$name) -> Result<Self, $crate::ProtoError> {
                Ok(Self { $($field: $crate::wire::Mirror::mirror(&of.$field)?,)* })
            }
        }
    };
}

/// Defines an event: [`message!`] with the base in front.
macro_rules! event {
    ($(#[doc = $doc:literal])* $name:ident {
        $($field:ident: $ty:ty = $key:literal $how:ident [$($wire:tt)*],)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, prost::Message)]
        pub(crate) struct $name {
            #[prost(message, optional, tag = "1")]
            pub(crate) base_event: Option<$crate::wire::envelope::BaseEvent>,
            $(#[prost($($wire)*)] pub(crate) $field: $ty,)*
        }

        impl $crate::json::Members for $name {
            fn members(&self, object: &mut $crate::json::Object<'_>) -> Result<(), $crate::ProtoError> {
                $(object.$how($key, &self.$field)?;)*
                Ok(())
            }
        }
    };
}

/// Defines an event whose fields are those of the event of the same name in `agui-core`.
macro_rules! mirror_event {
    ($name:ident {
        $($field:ident: $ty:ty = $key:literal $how:ident [$($wire:tt)*],)*
    }) => {
        event! { $name { $($field: $ty = $key $how [$($wire)*],)* } }

        impl $crate::wire::Mirror<agui_core::$name> for $name {
            fn mirror(of: &agui_core::$name) -> Result<Self, $crate::ProtoError> {
                Ok(Self {
                    base_event: None,
                    $($field: $crate::wire::Mirror::mirror(&of.$field)?,)*
                })
            }
        }
    };
}

//! The table form of wire objects: from one list of members come the struct, its constructor, its
//! writer, its reader and its JSON Schema.
//!
//! Kinds of optional members: `plain` (left out when absent), `compat` (as plain, and old producers may
//! send `null`), `nullable` (`null` means absent by the schema), `list` (an empty list is left out),
//! `array` (an empty list is written).

use serde::ser::{Serialize, SerializeMap};

use crate::decode::{Decode, DecodeError, Fields, Reader};

/// Members that several records share and that lie flat in the object.
pub(crate) trait Inline: Default {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    fn read(fields: &Fields<'_>, reader: &mut Reader) -> Result<Self, DecodeError>;

    /// Adds the members to the schema of the object.
    #[cfg(feature = "schema")]
    fn describe(members: &mut crate::schema::Members, generator: &mut schemars::SchemaGenerator);
}

/// Writes a member that may be absent. Opaque JSON that is `null` counts as absent.
pub(crate) fn put<M: SerializeMap, T: Serialize + Decode>(
    map: &mut M,
    key: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) if !value.is_null() => map.serialize_entry(key, value),
        Some(_) | None => Ok(()),
    }
}

/// The Rust type of a member of the given kind.
macro_rules! field_type {
    (list, $ty:ty) => { Vec<$ty> };
    (array, $ty:ty) => { Vec<$ty> };
    ($kind:ident, $ty:ty) => { Option<$ty> };
}

/// The setter of a member of the given kind.
macro_rules! field_setter {
    (list, $field:ident, $with:ident, $ty:ty) => {
        field_setter!(array, $field, $with, $ty);
    };
    (array, $field:ident, $with:ident, $ty:ty) => {
        #[doc = concat!("Sets `", stringify!($field), "`.")]
        #[must_use]
        pub fn $with(mut self, $field: impl Into<Vec<$ty>>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    ($kind:ident, $field:ident, $with:ident, $ty:ty) => {
        #[doc = concat!("Sets `", stringify!($field), "`.")]
        #[must_use]
        pub fn $with(mut self, $field: impl Into<$ty>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
}

/// Writes a member of the given kind.
macro_rules! write_field {
    (list, $map:ident, $key:literal, $value:expr) => {
        if !$value.is_empty() {
            $map.serialize_entry($key, &$value)?;
        }
    };
    (array, $map:ident, $key:literal, $value:expr) => {
        $map.serialize_entry($key, &$value)?;
    };
    ($kind:ident, $map:ident, $key:literal, $value:expr) => {
        $crate::record::put(&mut $map, $key, $value.as_ref())?;
    };
}

/// Reads a member of the given kind.
macro_rules! read_field {
    (array, $fields:ident, $key:literal, $reader:ident) => {
        $fields.list($key, $reader)?
    };
    ($kind:ident, $fields:ident, $key:literal, $reader:ident) => {
        $fields.$kind($key, $reader)?
    };
}

/// The schema of a member of the given kind.
#[cfg(feature = "schema")]
macro_rules! field_schema {
    (list, $ty:ty, $generator:ident) => {
        $crate::schema::list_of::<$ty>($generator)
    };
    (array, $ty:ty, $generator:ident) => {
        $crate::schema::list_of::<$ty>($generator)
    };
    ($kind:ident, $ty:ty, $generator:ident) => {
        <$ty as $crate::schema::WireSchema>::wire_schema($generator)
    };
}

/// Gives a type with a name of its own a place in the definitions.
macro_rules! named_schema {
    ($name:ident, |$generator:ident| $schema:expr) => {
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }

        #[cfg(feature = "schema")]
        impl $crate::schema::WireSchema for $name {
            fn wire_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                generator.subschema_for::<Self>()
            }
        }
    };
}

/// Defines one wire object. See the module for the kinds of members.
macro_rules! record {
    ($(#[doc = $doc:literal])* $(#[derive($derive:ident)])? pub struct $($rest:tt)*) => {
        record_without_debug! { $(#[doc = $doc])* #[derive(Debug $(, $derive)?)] pub struct $($rest)* }
    };
}

/// Defines one wire object whose `Debug` is written by hand.
macro_rules! record_without_debug {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:ident),*)])?
        pub struct $name:ident $(tag($tag_key:literal: $tag:literal))* {
            required {
                $( $(#[doc = $rdoc:literal])* $rfield:ident: $rty:ty = $rkey:literal, )*
            }
            optional {
                $( $(#[doc = $odoc:literal])* $ofield:ident: $oty:ty = $okey:literal, $with:ident, $kind:ident; )*
            }
            $( inline {
                $(#[doc = $idoc:literal])* $ifield:ident: $ity:ty = [$($ikey:literal),*]
            } )?
        }
    ) => {
        $(#[doc = $doc])*
        $(
            #[doc = ""]
            #[doc = concat!(" Source: AG-UI, objects with `\"", $tag_key, "\": \"", $tag, "\"`.")]
        )*
        $(#[derive($($derive),*)])?
        #[derive(Clone, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $rdoc])* pub $rfield: $rty, )*
            $( $(#[doc = $odoc])* pub $ofield: field_type!($kind, $oty), )*
            $( $(#[doc = $idoc])* pub $ifield: $ity, )?
        }

        impl $name {
            const KEYS: &'static [&'static str] =
                &[$($tag_key,)* $($rkey,)* $($okey,)* $($($ikey,)*)?];

            /// Makes one from its required members; the others are absent.
            #[must_use]
            pub fn new($( $rfield: impl Into<$rty> ),*) -> Self {
                Self {
                    $( $rfield: $rfield.into(), )*
                    $( $ofield: Default::default(), )*
                    $( $ifield: <$ity>::default(), )?
                }
            }

            $( field_setter!($kind, $ofield, $with, $oty); )*

            /// Reads one JSON document as this type.
            ///
            /// # Errors
            /// With the place and the kind of the first fault; never with a value.
            pub fn from_json(
                json: &[u8],
                reading: $crate::decode::Reading,
            ) -> Result<Self, $crate::decode::DecodeError> {
                $crate::decode::document(json, &mut $crate::decode::Reader::new(reading))
            }
        }

        impl $crate::decode::Decode for $name {
            fn decode(
                value: &serde_json::value::RawValue,
                at: &$crate::decode::Path<'_>,
                reader: &mut $crate::decode::Reader,
            ) -> Result<Self, $crate::decode::DecodeError> {
                let fields = $crate::decode::Fields::read(value, Self::KEYS, at)?;
                $( $crate::decode::tag(&fields, $tag_key, $tag, reader)?; )*
                Ok(Self {
                    $( $rfield: fields.required($rkey, reader)?, )*
                    $( $ofield: read_field!($kind, fields, $okey, reader), )*
                    $( $ifield: <$ity as $crate::record::Inline>::read(&fields, reader)?, )?
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $( map.serialize_entry($tag_key, $tag)?; )*
                $( map.serialize_entry($rkey, &self.$rfield)?; )*
                $( write_field!($kind, map, $okey, self.$ofield); )*
                $( $crate::record::Inline::write(&self.$ifield, &mut map)?; )?
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::decode::nested(deserializer)
            }
        }

        named_schema!($name, |generator| {
            let mut members = $crate::schema::Members::new();
            $( members.constant($tag_key, $tag); )*
            $(
                let member = <$rty as $crate::schema::WireSchema>::wire_schema(generator);
                members.required($rkey, concat!($($rdoc),*), member);
            )*
            $( members.optional($okey, concat!($($odoc),*), field_schema!($kind, $oty, generator)); )*
            $( <$ity as $crate::record::Inline>::describe(&mut members, generator); )?
            members.build(concat!($($doc, "\n"),*))
        });
    };
}

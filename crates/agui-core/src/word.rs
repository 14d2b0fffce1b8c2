//! Closed sets of words on the wire.

/// Defines an enum of words; a word outside the set is refused.
macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$vmeta])* $variant,)+
        }

        impl $name {
            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        named_schema!($name, |_generator| $crate::schema::words(concat!($($doc),*), &[$($word),+]));

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::decode::nested(deserializer)
            }
        }

        impl $crate::decode::Decode for $name {
            fn decode(
                value: &serde_json::value::RawValue,
                at: &$crate::decode::Path<'_>,
                _: &mut $crate::decode::Reader,
            ) -> Result<Self, $crate::decode::DecodeError> {
                match $crate::decode::string(value, at)?.as_str() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(at.error($crate::decode::DecodeErrorKind::NotAllowed)),
                }
            }
        }
    };
}

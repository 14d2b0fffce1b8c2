//! One macro for the closed sets of names that the wire may extend at any time.

/// Declares a fieldless enum of wire names with an `Other` variant for names that are not known.
macro_rules! wire_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
            /// A name this crate does not know.
            Other,
        }

        impl $name {
            /// Every known value; [`Other`](Self::Other) is not among them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The value for a wire name, [`Other`](Self::Other) if it is unknown.
            #[must_use]
            pub fn from_name(name: &str) -> Self {
                match name {
                    $($text => Self::$variant,)+
                    _ => Self::Other,
                }
            }

            /// The wire name; `other` for [`Other`](Self::Other).
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other => "other",
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use wire_enum;

//! Parameters with their defaults: those of detectors, of encoding and of fitting.

/// Declares parameters, each with its default: plain data, and unknown names are errors.
macro_rules! parameters {
    ($(#[$about:meta])* $visible:vis struct $Params:ident {
        $($(#[$doc:meta])* pub $name:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $visible struct $Params {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Default for $Params {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }
    };
}
/// Stores a type in files as the text that it is written as and read from.
macro_rules! stored_as_text {
    ($Type:ty, $Error:ty) => {
        impl TryFrom<String> for $Type {
            type Error = $Error;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$Type> for String {
            fn from(value: $Type) -> Self {
                value.to_string()
            }
        }
    };
}

pub(crate) use {parameters, stored_as_text};

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
pub(crate) use parameters;

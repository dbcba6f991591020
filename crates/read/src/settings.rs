//! Settings of what scenarios name.

/// Settings of a strategy, a policy or the like, as a table of a scenario: fields with what they are when absent, their type's
/// default unless it is said, and the declaration of the thing.
///
/// ```
/// # use scavsim_base::Declared;
/// scavsim_read::settings! {
///     /// Settings of a search.
///     pub struct SearchSettings {
///         /// Runs.
///         pub runs: u32 = 3,
///         /// Whether the dearest come first.
///         pub dearest_first: bool,
///     }
///
///     name: "search",
///     what: "some runs",
///     formula: "",
///     source: "",
///     example: "",
/// }
/// assert_eq!(SearchSettings::default().runs, 3);
/// assert_eq!(SearchSettings::DECLARATION.name, "search");
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$about:meta])*
        pub struct $settings:ident {
            $($(#[$doc:meta])* pub $field:ident: $type:ty $(= $default:expr)?),* $(,)?
        }
        $($said:ident: $text:expr),* $(,)?
    ) => {
        #[derive(Debug, Clone, serde::Deserialize)]
        $(#[$about])*
        #[serde(default, deny_unknown_fields)]
        pub struct $settings {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $settings {
            fn default() -> Self {
                $settings { $($field: $crate::settings!(@default $($default)?),)* }
            }
        }

        impl scavsim_base::Declared for $settings {
            const DECLARATION: scavsim_base::Declaration = scavsim_base::Declaration {
                $($said: $text,)*
            };
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
}

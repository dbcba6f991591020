//! Registries of things that scenarios name: one line and one module each.

/// An enum with a variant for each module of a list. A module has a `DECLARATION`, and whatever the functions of the enum ask for:
/// a constant that they give, or a function of the same name and arguments.
#[macro_export]
macro_rules! registry {
    (
        $(#[$about:meta])*
        pub enum $registry:ident { $($(#[$of_variant:meta])* $variant:ident = $module:ident,)* }
        $($functions:tt)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $registry {
            $(
                #[doc = concat!("As `", stringify!($module), "` says.")]
                $(#[$of_variant])*
                $variant,
            )*
        }

        $crate::named!($registry: $($variant = $module::DECLARATION.name),*);

        impl $registry {
            /// What all of them say of themselves.
            pub const DECLARED: &'static [$crate::Declaration] = &[$($module::DECLARATION),*];
        }

        $crate::registry!(@functions $registry [$($variant $module)*] $($functions)*);
    };
    (@functions $registry:ident $list:tt) => {};
    (
        @functions $registry:ident $list:tt $(#[$about:meta])*
        $visibility:vis fn $function:ident($self:ident) -> $output:ty = $constant:ident;
        $($rest:tt)*
    ) => {
        impl $registry {
            $(#[$about])*
            $visibility fn $function($self) -> $output {
                $crate::registry!(@ask $self $list $constant)
            }
        }
        $crate::registry!(@functions $registry $list $($rest)*);
    };
    (
        @functions $registry:ident $list:tt $(#[$about:meta])*
        $visibility:vis fn $function:ident($self:ident $(, $name:ident: $type:ty)*) $(-> $output:ty)?;
        $($rest:tt)*
    ) => {
        impl $registry {
            $(#[$about])*
            $visibility fn $function($self $(, $name: $type)*) $(-> $output)? {
                $crate::registry!(@ask $self $list $function ($($name),*))
            }
        }
        $crate::registry!(@functions $registry $list $($rest)*);
    };
    (@ask $self:ident [$($variant:ident $module:ident)*] $constant:ident) => {
        match $self { $(Self::$variant => $module::$constant,)* }
    };
    (@ask $self:ident [$($variant:ident $module:ident)*] $function:ident $arguments:tt) => {
        match $self { $(Self::$variant => $module::$function $arguments,)* }
    };
}

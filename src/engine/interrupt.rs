//! A flag by which somebody outside stops what is being simulated.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops a run from outside, from a signal or another thread; clones are the same flag, which never falls.
///
/// Every simulated event looks at it. What is stopped has no result: nothing of it is handed out.
///
/// ```
/// use scavsim::{Ending, Interrupt, Scenario};
///
/// let interrupt = Interrupt::default();
/// let scenario = Scenario::options().interrupt(&interrupt).parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     search = { strategies = ["oracle"], objectives = ["time"] }
///     "#,
/// )?;
/// interrupt.raise(); // anyone who has a clone may, at any time
/// let finished = scenario.run(|_| ())?;
/// assert_eq!((finished.cases, finished.ending), (0, Ending::Interrupted));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Interrupt(Option<Arc<AtomicBool>>);

impl Interrupt {
    /// A flag that nobody can raise.
    pub(crate) const NEVER: Interrupt = Interrupt(None);

    /// Raises the flag.
    pub fn raise(&self) {
        if let Some(flag) = &self.0 {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it is raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        (self.0.as_ref()).is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The flag itself, for a signal.
    #[cfg(feature = "cli")]
    pub(crate) fn flag(&self) -> Option<Arc<AtomicBool>> {
        self.0.clone()
    }
}

/// A flag that is not raised.
impl Default for Interrupt {
    fn default() -> Self {
        Interrupt(Some(Arc::default()))
    }
}

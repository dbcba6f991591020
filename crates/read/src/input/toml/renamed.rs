//! Renamed keys, with messages about the new names.

/// The old name, the new one, and what it means now.
const RENAMED: &[(&str, &str, &str)] = &[
    (
        "per_missed_update",
        "per_missed_batch",
        "per global batch of others' samples that a gradient misses, under every protocol",
    ),
    (
        "sharpness",
        "service",
        "`service = { cv = 0.5 }` says how service times vary, the less the sharper, and `step_includes_service = true` \
         that a worker's measured step holds its own",
    ),
];

/// Advice about an unknown key that was legal once, if one of `legal` replaced it.
pub(super) fn help(word: &str, legal: &[&str]) -> Option<String> {
    let (old, new, meaning) = RENAMED.iter().find(|(old, ..)| *old == word)?;
    let is_here = legal.contains(new);
    is_here.then(|| format!("`{old}` is `{new}` now: {meaning}"))
}

//! "Did you mean ...?"

/// Longer words are no typing mistakes, and slow to compare.
const LONGEST_WORD: usize = 64;

/// Shorter parts occur in many words.
const SHORTEST_PART: usize = 4;

/// The legal word that a misspelt one was most likely meant to be. Case, and `-` against `_`, do not count. One mistake is
/// accepted in words of two letters or more, and one more per three further letters; otherwise the shortest word that
/// contains it.
pub fn closest<'a>(word: &str, legal: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    let length = word.chars().count();
    if !(2..=LONGEST_WORD).contains(&length) {
        return None;
    }
    let allowed = (length / 3).max(1);
    let legal: Vec<&str> = legal.into_iter().collect();
    let near = (legal.iter())
        .map(|&candidate| {
            (
                strsim::damerau_levenshtein(&word, &folded(candidate)),
                candidate,
            )
        })
        .filter(|(distance, _)| *distance <= allowed)
        // Among equally near ones, one with an equal beginning: first letters are seldom wrong.
        .min_by_key(|(distance, candidate)| (*distance, !begins_alike(&word, candidate)))
        .map(|(_, candidate)| candidate);
    let whole = (legal.iter().copied())
        .filter(|candidate| length >= SHORTEST_PART && folded(candidate).contains(&word))
        .min_by_key(|candidate| candidate.len());
    near.or(whole)
}

/// `did you mean …?` with the [closest] legal word, or `otherwise`.
pub fn did_you_mean<'a>(
    word: &str,
    legal: impl IntoIterator<Item = &'a str>,
    otherwise: impl Into<String>,
) -> String {
    match closest(word, legal) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise.into(),
    }
}

/// `did you mean …?` with the [closest] legal word, or a list of all legal words.
pub fn nearest_or_all<'a>(word: &str, legal: impl IntoIterator<Item = &'a str>) -> String {
    let legal: Vec<&str> = legal.into_iter().collect();
    let all = format!("allowed here: {}", legal.join(", "));
    did_you_mean(word, legal, all)
}

fn begins_alike(word: &str, candidate: &str) -> bool {
    word.chars().next() == folded(candidate).chars().next()
}

fn folded(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_slips_and_leaves_strangers_alone() {
        let legal = ["workers", "gcp-spot", "vm", "replicas"];
        assert_eq!(closest("workrs", legal), Some("workers"));
        assert_eq!(closest("H10", ["A10", "H100"]), Some("H100"));
        assert_eq!(closest("gcp_spott", legal), Some("gcp-spot"));
        assert_eq!(closest("Replicas", legal), Some("replicas"));
        assert_eq!(closest("mv", legal), Some("vm"));
        assert_eq!(closest("price", legal), None);
        let long = [
            "scavenger-resnet50",
            "my-scavenger-resnet50",
            "mlperf-resnet",
        ];
        assert_eq!(closest("resnet50", long), Some("scavenger-resnet50"));
        assert_eq!(closest("ResNet", long), Some("mlperf-resnet"));
        assert_eq!(closest("net", long), None);
        assert_eq!(closest("x", legal), None);
        assert_eq!(closest("", legal), None);
    }
}

//! Suggestions for unknown words.
//!
//! A wrong suggestion does little harm, but a rule that mistakes one word for another reports a false finding. So
//! suggestions ([`nearest`], [`did_you_mean`]) are generous, and recognition ([`meant`], [`is_misspelling`]) is strict.

/// The Jaro-Winkler similarity, from 0 to 1, above which words are suggested: beginnings of words
/// and words with swapped letters, but not words that only share some letters.
const SIMILAR: f64 = 0.8;

/// Returns the candidates that are similar to `word`, the most similar first; equally similar ones keep their order.
pub(crate) fn similar<T: AsRef<str>>(
    word: &str,
    candidates: impl IntoIterator<Item = T>,
) -> Vec<T> {
    let word = word.to_lowercase();
    let scored = candidates.into_iter().filter_map(|one| {
        let similarity = strsim::jaro_winkler(&word, &one.as_ref().to_lowercase());
        (similarity > SIMILAR).then_some((similarity, one))
    });
    let mut scored: Vec<(f64, T)> = scored.collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|(_, one)| one).collect()
}

/// Returns the candidate that is most similar to `word`; `None` if none is similar.
pub(crate) fn nearest<T: AsRef<str>>(
    word: &str,
    candidates: impl IntoIterator<Item = T>,
) -> Option<T> {
    similar(word, candidates).into_iter().next()
}

/// Returns a question whether the nearest candidate is meant, or `otherwise` if none is similar.
pub(crate) fn did_you_mean<T: AsRef<str>>(
    word: &str,
    candidates: impl IntoIterator<Item = T>,
    otherwise: impl FnOnce() -> String,
) -> String {
    match nearest(word, candidates) {
        Some(near) => format!("did you mean `{}`?", near.as_ref()),
        None => otherwise(),
    }
}

/// Returns the field that `name` most likely means: one that differs in case or in a few letters, or that begins with
/// `name` without its final `s` (`owners`: `ownerReferences`). `None` if nothing is close.
pub(crate) fn meant(name: &str, fields: &[&'static str]) -> Option<&'static str> {
    let written = name.to_lowercase();
    let limit = (written.chars().count() / 4).clamp(1, 3);
    let close = fields.iter().filter_map(|field| {
        let lower = field.to_lowercase();
        let beginning = written.trim_end_matches('s');
        let is_shorthand = beginning.len() >= 5 && lower.starts_with(beginning);
        // A shorthand counts like one wrong letter.
        let distance = if is_shorthand {
            1
        } else {
            distance_within(limit, &written, &lower)?
        };
        Some((distance, *field))
    });
    close.min().map(|(_, field)| field)
}

/// Whether `name` equals `word` except for case and at most two wrong letters. `word` is ASCII.
pub(crate) fn is_misspelling(name: &str, word: &str) -> bool {
    // Comparing lengths is cheaper and excludes most names. Only in ASCII does each letter have one byte.
    let differs_in_length = name.is_ascii() && name.len().abs_diff(word.len()) > 2;
    !differs_in_length && distance_within(2, &word.to_lowercase(), &name.to_lowercase()).is_some()
}

/// Returns the number of letters in which two lower-case words differ, unless it is more than `limit`.
fn distance_within(limit: usize, one: &str, other: &str) -> Option<usize> {
    // The distance is at least the difference of the lengths, which is cheaper to compute.
    let apart = one.chars().count().abs_diff(other.chars().count());
    let distance = (apart <= limit).then(|| strsim::osa_distance(one, other));
    distance.filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: [&str; 8] = [
        "annotations",
        "finalizers",
        "generateName",
        "labels",
        "name",
        "namespace",
        "ownerReferences",
        "uid",
    ];
    const OWNER: [&str; 6] = [
        "apiVersion",
        "blockOwnerDeletion",
        "controller",
        "kind",
        "name",
        "uid",
    ];

    #[test]
    fn near_misses_are_recognised_and_other_words_are_not() {
        assert_eq!(meant("ownerReference", &METADATA), Some("ownerReferences"));
        assert_eq!(meant("ownerRefs", &METADATA), Some("ownerReferences"));
        assert_eq!(meant("owners", &METADATA), Some("ownerReferences"));
        assert_eq!(meant("finalizer", &METADATA), Some("finalizers"));
        assert_eq!(meant("lables", &METADATA), Some("labels"));
        assert_eq!(meant("Annotations", &METADATA), Some("annotations"));
        for other in [
            "version",
            "updatedAt",
            "region",
            "tags",
            "title",
            "description",
            "repository",
            "spec",
            "clusterName",
        ] {
            assert_eq!(meant(other, &METADATA), None, "{other}");
        }
        assert_eq!(
            meant("blockownerdeletion", &OWNER),
            Some("blockOwnerDeletion")
        );
        assert_eq!(meant("isController", &OWNER), Some("controller"));
        assert_eq!(meant("apiversion", &OWNER), Some("apiVersion"));
        assert_eq!(meant("namespace", &OWNER), None);
    }

    #[test]
    fn suggestions_start_with_the_most_similar_word() {
        assert_eq!(
            similar("grafna", ["prometheus", "grafana", "grafana-agent"]),
            ["grafana", "grafana-agent"]
        );
        assert_eq!(nearest("SARIFF", ["json", "sarif"]), Some("sarif"));
        assert_eq!(
            did_you_mean("x", ["json"], || "formats are: json".to_owned()),
            "formats are: json"
        );
    }
}

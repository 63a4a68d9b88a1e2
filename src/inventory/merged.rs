//! A merge of sorted lists.

/// Merges sorted lists without duplicates into one of the same kind.
pub(super) fn merged<T: Ord + Copy>(mut lists: Vec<&[T]>) -> impl Iterator<Item = T> {
    std::iter::from_fn(move || {
        let next = lists
            .iter()
            .filter_map(|list| list.first())
            .min()
            .copied()?;
        for list in &mut lists {
            *list = list.strip_prefix(&[next]).unwrap_or(list);
        }
        Some(next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_lists_are_sorted_without_duplicates() {
        let lists: [&[u8]; 4] = [&[1, 4, 5], &[], &[2, 4], &[4, 9]];
        assert_eq!(merged(lists.to_vec()).collect::<Vec<_>>(), [1, 2, 4, 5, 9]);
    }
}

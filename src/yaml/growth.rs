//! Lists that may become long.

/// Entries of a list that is long.
const LONG: usize = 1 << 20;

/// Adds to a list that may have one entry for each byte of a text. A long one grows by a quarter instead of twice.
#[inline]
pub(super) fn push<T>(list: &mut Vec<T>, entry: T) {
    if list.len() == list.capacity() && list.len() >= LONG {
        list.reserve_exact(list.len() / 4);
    }
    list.push(entry);
}

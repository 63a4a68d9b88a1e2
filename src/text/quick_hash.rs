//! A hash of few operations and without a seed, for tables in which a collision costs little.

use std::hash::Hasher;

/// The hash of some bytes, in the lower half of the result.
#[inline]
pub(crate) fn quick_hash(bytes: &[u8]) -> u64 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let hash = eights.iter().fold(bytes.len() as u64, |hash, eight| {
        mixed(hash, u64::from_le_bytes(*eight))
    });
    // The last eight bytes once more take fewer operations than the rest of them one by one.
    let last = match bytes.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => rest
            .iter()
            .fold(0, |word, &byte| (word << 8) | u64::from(byte)),
    };
    mixed(hash, last) >> 32
}

/// The hash of values that consist of texts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuickHasher(u64);

impl Hasher for QuickHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = mixed(self.0, quick_hash(bytes));
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.0 = self.0.rotate_left(5) ^ u64::from(byte);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 >> 32
    }
}

fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::Hash;

    use super::*;

    #[test]
    fn texts_that_differ_a_little_are_told_apart() {
        let hash = |name: &(String, String)| {
            let mut hasher = QuickHasher::default();
            name.hash(&mut hasher);
            hasher.finish()
        };
        let names = (0..1000).flat_map(|at| {
            [
                (format!("web-{at}"), "a".to_owned()),
                ("a".to_owned(), format!("web-{at}")),
            ]
        });
        assert_eq!(
            names.map(|name| hash(&name)).collect::<HashSet<_>>().len(),
            2000
        );
        assert_ne!(quick_hash(b"ab"), quick_hash(b"ba"));
    }
}

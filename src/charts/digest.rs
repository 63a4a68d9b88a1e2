//! Digests of inputs: equal for equal inputs.

use data_encoding::HEXLOWER;
use sha2_const_stable::Sha256;

/// A digest of texts in their order.
pub(super) struct Digest(Sha256);

impl Digest {
    pub(super) fn new() -> Self {
        Self(Sha256::new())
    }

    /// Adds a text with its length, so that the boundaries between texts count.
    pub(super) fn and(self, text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let length = (text.len() as u64).to_le_bytes();
        Self(self.0.update(&length).update(text))
    }

    pub(super) fn and_all<T: AsRef<[u8]>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        texts.into_iter().fold(self, Self::and)
    }

    /// Returns the digest as hexadecimal digits.
    pub(super) fn finish(self) -> String {
        HEXLOWER.encode(&self.0.finalize())
    }
}

//! Digests of inputs: equal for equal inputs.

use data_encoding::HEXLOWER;
use sha2_const_stable::Sha256;

/// A digest of texts in their order.
pub(super) struct Digest(Sha256);

impl Digest {
    /// Of nothing yet.
    pub(super) fn new() -> Self {
        Self(Sha256::new())
    }

    /// Adds a text. Where one ends and the next begins makes a difference.
    pub(super) fn and(self, text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let length = (text.len() as u64).to_le_bytes();
        Self(self.0.update(&length).update(text))
    }

    /// Adds several.
    pub(super) fn and_all<T: AsRef<[u8]>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        texts.into_iter().fold(self, Self::and)
    }

    /// As hexadecimal digits.
    pub(super) fn finish(self) -> String {
        HEXLOWER.encode(&self.0.finalize())
    }
}

//! The fingerprint of a finding, which survives reformatting, reordering and moving lines.

use std::collections::BTreeMap;

use super::Finding;
use super::identity::without_indices;
use crate::kube::ObjectKey;

/// A hash of 128 bits, printed as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Computes the 128-bit FNV-1a hash of `parts`, each closed by a zero byte, with the published constants.
fn fnv1a<'a>(parts: impl IntoIterator<Item = &'a str>) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let parts = parts.into_iter();
    let bytes = parts.flat_map(|part| part.bytes().chain(std::iter::once(0)));
    bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    })
}

/// Returns the fingerprints of `findings`, in their order.
///
/// A fingerprint covers rule, object, field path and target. `defined_in` returns how many files define an object. If
/// there are several, or the finding has no object, the path of the finding's file is included. Findings that are still
/// equal get an ordinal in report order.
pub fn fingerprint<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    path_of: impl Fn(&Finding) -> &'a str,
    defined_in: impl Fn(&ObjectKey) -> usize,
) -> Vec<Fingerprint> {
    let mut seen: BTreeMap<u128, u32> = BTreeMap::new();
    let prints = findings.into_iter().map(|finding| {
        let key = finding.object.as_ref();
        let unique = key.is_some_and(|key| defined_in(key) == 1);
        let path = if unique { "" } else { path_of(finding) };
        // Indices move when entries are added before them; the target distinguishes entries instead.
        let field = finding.field.as_deref().map(without_indices);
        let field = field.unwrap_or_default();
        let object = key.map(ObjectKey::to_string).unwrap_or_default();
        let target = finding.target.as_deref().unwrap_or_default();
        let base = fnv1a(["v1", finding.rule, &object, &field, target, path]);
        let ordinal = seen.entry(base).or_default();
        *ordinal += 1;
        match *ordinal {
            1 => Fingerprint(base),
            n => Fingerprint(fnv1a([format!("{base:032x}").as_str(), &n.to_string()])),
        }
    });
    prints.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_matches_the_fnv_1a_128_reference() {
        // The published hash of "a"; the separator, a zero byte, only multiplies it by the prime.
        let a: u128 = 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964;
        let prime = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        assert_eq!(fnv1a(["a"]), a.wrapping_mul(prime));
    }
}

//! The configuration of property tests.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// Returns a configuration for `cases` that are equal in every run, so that a failure is caused by a change.
/// `PROPTEST_RNG_SEED=7` selects other cases, `PROPTEST_CASES` more of them.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(0x6f77_6e65_726c);
    }
    config
}

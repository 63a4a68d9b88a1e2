//! How the property tests run.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// `cases` that are the same in every run: a red run means a change, not bad luck. `PROPTEST_RNG_SEED=7 cargo test` looks at
/// others, `PROPTEST_CASES` at more.
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

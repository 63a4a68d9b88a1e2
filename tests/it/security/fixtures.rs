use std::fs;
use std::path::Path;

use crate::support::root;

#[test]
fn every_attack_fixture_is_described_and_tested() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/security");
    let sources: String = fs::read_dir(tests)
        .expect("the tests of attacks")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| fs::read_to_string(path).expect("a source file"))
        .collect();
    for entry in fs::read_dir(root().join("fixtures/security")).expect("the attacks") {
        let folder = entry.expect("an entry").path();
        if folder.is_dir() {
            let name = folder
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let attack = fs::read_to_string(folder.join("attack.txt"))
                .expect("attack.txt says what the attack tries");
            assert_eq!(attack.trim_end().lines().count(), 1, "{name}: {attack}");
            assert!(
                sources.contains(&format!("\"{name}\"")),
                "no test in tests/it/security runs {name}"
            );
        }
    }
}

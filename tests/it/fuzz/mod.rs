//! The fuzz targets with fixed inputs: fixtures and a few mutations of each. `fuzz/README.md` says how to fuzz longer.

use crate::support::root;

pub(crate) mod targets;

use targets::TARGETS;

/// A small generator of pseudo-random numbers with a fixed sequence.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        // xorshift: any sequence is fine, as long as it is equal in every run.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Pieces with a special meaning for parsers and formats.
const PIECES: [&[u8]; 24] = [
    b"---\n",
    b"...\n",
    b"&a ",
    b"*a ",
    b"<<: ",
    b"? ",
    b"- ",
    b": ",
    b"|2\n",
    b">-\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"'",
    b"#",
    b"\t",
    b"\r",
    b"\xEF\xBB\xBF",
    b"\xFF\xFE",
    b"\xE2\x80\xAE",
    b"ownerlint: ignore ",
    b"::error::",
];

fn mutated(seed: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut data = seed[..seed.len().min(2000)].to_vec();
    for _ in 0..=numbers.next(6) {
        let at = numbers.next(data.len() + 1);
        match numbers.next(4) {
            0 if !data.is_empty() => {
                let end = (at + numbers.next(20)).min(data.len());
                data.drain(at..end);
            }
            1 if at < data.len() => data[at] = numbers.next(256) as u8,
            2 => {
                let copied = data[at..(at + numbers.next(40)).min(data.len())].to_vec();
                data.splice(at..at, copied);
            }
            _ => {
                let piece = PIECES[numbers.next(PIECES.len())];
                data.splice(at..at, piece.iter().copied());
            }
        }
    }
    data
}

/// Returns the texts to mutate: manifests, a configuration, steps.
fn seeds() -> Vec<Vec<u8>> {
    let mut files: Vec<_> = walkdir::WalkDir::new(root().join("fixtures/rules"))
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .map(walkdir::DirEntry::into_path)
        .step_by(4)
        .collect();
    files.truncate(40);
    let mut seeds: Vec<Vec<u8>> = files
        .iter()
        .map(|file| std::fs::read(file).expect("a fixture"))
        .collect();
    seeds.push(b"rules: {finalizer-unknown: {severity: warning, ignore: [{object: 'Pod/*/a', reason: x, expires: 2030-01-01}]}}\nbundles: {a: {paths: [x], world: closed}}\n".to_vec());
    seeds.push(
        b"- {op: delete, target: Pod/a/b, policy: Foreground}\n- {op: settle, target: Pod/a/b}\n"
            .to_vec(),
    );
    seeds.push(b"ignore finalizer-unknown -- reason\nignore-file kind-not-served\nignore-document x, y -- z".to_vec());
    seeds
}

#[test]
fn fuzz_targets_hold_for_mutated_fixtures() {
    let seeds = seeds();
    for (name, target) in TARGETS {
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
        // Simulations are slower, and their inputs are graphs.
        let runs = match name {
            "simulation" | "teardown" | "diff" | "formats" => 20,
            "suppressions" | "fixes" | "lsp" => 40,
            _ => 300,
        };
        for run in 0..runs {
            let data = mutated(&seeds[run % seeds.len()], &mut numbers);
            let held = std::panic::catch_unwind(|| target(&data));
            assert!(held.is_ok(), "{name}: {:?}", String::from_utf8_lossy(&data));
        }
    }
}

#[test]
fn every_fuzz_target_has_a_file() {
    for (name, _) in TARGETS {
        let file = root().join(format!("fuzz/fuzz_targets/{name}.rs"));
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(
            text.contains(&format!("targets::run(\"{name}\", data)")),
            "{name}"
        );
    }
}

/// A key of 360 invalid bytes, which has three times as many bytes once each is replaced by U+FFFD.
const LONG_KEY: [u8; 361] = {
    let mut key = [0xFF; 361];
    key[360] = b':';
    key
};

/// Minimised findings of libFuzzer.
const FINDS: [(&str, &[u8]); 13] = [
    ("libyaml", b"a\r\r\nb"),
    ("libyaml", b"!R&[&"),
    ("libyaml", b"a: >+\n"),
    ("libyaml", b">+\r\r"),
    ("libyaml", b"!a\n%YAML 1.123"),
    ("libyaml", b"\"\\/\""),
    ("libyaml", b"\"\\'\""),
    ("libyaml", &LONG_KEY),
    ("libyaml", b"s: &a.\n &a"),
    ("formats", b"###[x"),
    ("fixes", b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  x{{ y }}: b\n  uid: c\n  resourceVersion: d\n"),
    ("fixes", b"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: a\n  finalizers: [{}, kubernetes.io/pvc-protection]"),
    ("fixes", b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  uid: c\n  resourceVersion: d\n(spec): {}\n"),
];

#[test]
fn minimised_fuzz_findings_do_not_recur() {
    for (name, data) in FINDS {
        targets::run(name, data);
    }
}

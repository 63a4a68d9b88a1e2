//! The effects of merging a change on the cluster.

use serde_json::Value;

use super::places::{Folder, config, object};

/// Returns the effects of a change as lines: `cascaded ConfigMap/shop/a (certain, flux) because Namespace//shop`.
fn effects(base: &[(&str, &str)], head: &[(&str, &str)], more: &[&str]) -> Vec<String> {
    let folder = Folder::new();
    for (side, files) in [("base", base), ("head", head)] {
        std::fs::create_dir(folder.path().join(side)).expect("a folder");
        for (path, text) in files {
            folder.write(&format!("{side}/{path}"), text);
        }
    }
    let document = folder
        .run(
            "",
            &[&["--base", "base", "--head", "head"][..], more].concat(),
        )
        .expect("effects");
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let said = document["effects"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|effect| {
            let root = text(&effect["because"][0]);
            let [what, key, certainty, regime] =
                ["effect", "key", "certainty", "regime"].map(|field| text(&effect[field]));
            if root == key {
                format!("{what} {key} ({certainty}, {regime})")
            } else {
                format!("{what} {key} ({certainty}, {regime}) because {root}")
            }
        });
    said.collect()
}

fn in_shop(text: &str) -> String {
    text.replacen("metadata:\n", "metadata:\n  namespace: shop\n", 1)
}

const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: flux-system}\nspec: {path: ./app, prune: true}\n";

#[test]
fn removed_namespace_cascades_to_objects_in_head() {
    let (namespace, a) = (object("v1", "Namespace", "shop"), in_shop(&config("a")));
    let common = [("flux.yaml", FLUX), ("app/a.yaml", &*a)];
    let base = [&common[..], &[("app/ns.yaml", &*namespace)]].concat();
    assert_eq!(
        effects(&base, &common, &[]),
        [
            "cascaded ConfigMap/shop/a (certain, flux) because Namespace//shop",
            "deleted Namespace//shop (certain, flux)",
        ]
    );
    let moved = [&common[..], &[("app/other.yaml", &*namespace)]].concat();
    assert_eq!(
        effects(&base, &moved, &[]),
        [""; 0],
        "a Namespace that moved is no removal"
    );
}

#[test]
fn helm_upgrade_deletes_remaining_objects_with_their_namespace() {
    let (namespace, a) = (object("v1", "Namespace", "shop"), in_shop(&config("a")));
    let base = [("ns.yaml", &*namespace), ("a.yaml", &*a)];
    assert_eq!(
        effects(&base, &base[1..], &["--by", "helm"]),
        [
            "cascaded ConfigMap/shop/a (certain, helm) because Namespace//shop",
            "deleted Namespace//shop (certain, helm)"
        ]
    );
}

#[test]
fn removed_definition_cascades_to_instances_in_head() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ships.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Ship, plural: ships}\n  versions: [{name: v1, served: true, storage: true}]\n";
    let ship = in_shop(&object("example.com/v1", "Ship", "flagship"));
    assert_eq!(
        effects(
            &[("crd.yaml", definition), ("ship.yaml", &ship)],
            &[("ship.yaml", &ship)],
            &["--by", "flux"]
        ),
        [
            "deleted CustomResourceDefinition.apiextensions.k8s.io//ships.example.com (certain, flux)",
            "cascaded Ship.example.com/shop/flagship (certain, flux) because CustomResourceDefinition.apiextensions.k8s.io//ships.example.com",
        ]
    );
}

/// The files that `flux bootstrap --path=.` commits.
const BOOTSTRAP: &str = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: 'ssh://git@example.com/fleet'}\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {path: ./, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";

#[test]
fn bootstrapped_flux_delivers_its_repository_except_ignored_files() {
    let a = in_shop(&config("a"));
    let gone = ["deleted ConfigMap/shop/a (certain, flux)"];
    let nobody = ["deleted ConfigMap/shop/a (possible, unknown)"];
    let sync = ("flux-system/gotk-sync.yaml", BOOTSTRAP);
    assert_eq!(effects(&[sync, ("apps/a.yaml", &a)], &[sync], &[]), gone);
    assert_eq!(
        effects(&[sync, (".github/a.yaml", &a)], &[sync], &[]),
        nobody,
        "it is no part of what Flux downloads"
    );
    let elsewhere = (
        "apps/sync.yaml",
        BOOTSTRAP.replace("name: flux-system, n", "name: sync, n"),
    );
    let elsewhere = (elsewhere.0, &*elsewhere.1);
    assert_eq!(
        effects(&[elsewhere, ("b/a.yaml", &a)], &[elsewhere], &[]),
        nobody,
        "every repository has a root"
    );
    let filtered = BOOTSTRAP.replace("fleet'", "fleet', ignore: '/apps'");
    let filtered = ("flux-system/gotk-sync.yaml", &*filtered);
    assert_eq!(
        effects(&[filtered, ("apps/a.yaml", &a)], &[filtered], &[]),
        nobody,
        "Flux leaves it out"
    );
    assert_eq!(
        effects(&[filtered, (".github/a.yaml", &a)], &[filtered], &[]),
        gone,
        "instead of what it leaves out by default"
    );
}

#[test]
fn root_folder_is_delivered_by_application_of_known_repository() {
    let application = |name: &str, repository: &str, path: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  source: {{repoURL: '{repository}', path: {path}, directory: {{recurse: true}}}}\n  destination: {{namespace: shop}}\n  syncPolicy: {{automated: {{prune: true}}}}\n"
        )
    };
    let (a, b) = (config("a"), config("b"));
    let here = application("shop", "https://example.com/fleet", "shop");
    let common = [("apps/shop.yaml", &*here), ("shop/b.yaml", &*b)];
    let with = |root: &str| {
        let head = [&common[..], &[("apps/root.yaml", root)]].concat();
        effects(&[&head[..], &[("a.yaml", &*a)]].concat(), &head, &[])
    };
    let (same, other) = ("https://example.com/fleet", "https://example.com/other");
    assert_eq!(
        with(&application("root", same, ".")),
        ["deleted ConfigMap/shop/a (certain, argocd)"]
    );
    assert_eq!(
        with(&application("root", other, ".")),
        ["deleted ConfigMap/?/a (possible, unknown)"]
    );
}

#[test]
fn unreferenced_folder_is_possibly_delivered_by_its_tool() {
    let a = in_shop(&config("a"));
    let app = FLUX.replace("./app", "./apps/shop");
    let probably = ["deleted ConfigMap/shop/b (possible, flux)"];
    let nobody = ["deleted ConfigMap/shop/b (possible, unknown)"];
    let b = in_shop(&config("b"));
    let common = [("cluster/app.yaml", &*app), ("apps/shop/a.yaml", &*a)];
    let without =
        |path: &'static str| effects(&[&common[..], &[(path, &*b)]].concat(), &common, &[]);
    assert_eq!(without("cluster/b.yaml"), probably);
    assert_eq!(
        without("apps/blog/b.yaml"),
        nobody,
        "what leads on from there does not lead here"
    );
    let repository = object("source.toolkit.fluxcd.io/v1", "HelmRepository", "charts");
    let flux = [("shop/repository.yaml", &*repository)];
    assert_eq!(
        effects(&[flux[0], ("shop/b.yaml", &b)], &flux, &[]),
        probably,
        "nothing leads anywhere, and only Flux reads this"
    );
    let both = [common[0], common[1], ("blog/repository.yaml", &*repository)];
    assert_eq!(
        effects(&[&both[..], &[("blog/b.yaml", &*b)]].concat(), &both, &[]),
        nobody,
        "what leads on leads elsewhere"
    );
}

#[test]
fn assumed_delivery_is_noted_and_lowers_severity() {
    let folder = Folder::new();
    let cluster = object("v1", "Namespace", "shop");
    folder
        .write("base/cluster/app.yaml", FLUX)
        .write("base/cluster/shop.yaml", &cluster)
        .write("head/cluster/app.yaml", FLUX);
    let document = folder
        .run("", &["--base", "base", "--head", "head"])
        .expect("effects");
    let notes = document["notes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str);
    let assumed: Vec<&str> = notes.filter(|note| note.contains("points at")).collect();
    assert_eq!(
        assumed,
        [
            "nothing here points at cluster, which holds objects of Flux: if Flux applies it, Flux deletes 1 object"
        ]
    );
    let finding = &document["findings"][0];
    assert_eq!(finding["severity"], "warning");
    assert_eq!(
        finding["message"],
        "removing Namespace `shop` may delete everything in it"
    );
    let reason = finding["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with("If Flux applies this, it deletes the Namespace, and"),
        "{reason}"
    );
}

#[test]
fn unknown_tool_makes_deletion_possible_and_kubectl_orphans() {
    let a = config("a");
    assert_eq!(
        effects(&[("a.yaml", &a)], &[], &[]),
        ["deleted ConfigMap/?/a (possible, unknown)"]
    );
    assert_eq!(
        effects(&[("a.yaml", &a)], &[], &["--by", "kubectl"]),
        ["orphaned ConfigMap/?/a (certain, kubectl)"]
    );
}

#[test]
fn helm_keep_annotation_protects_from_helm_but_not_from_flux() {
    let kept = object("v1", "ConfigMap", "a") + "  annotations: {helm.sh/resource-policy: keep}\n";
    let base = [("a.yaml", &*kept)];
    assert_eq!(
        effects(&base, &[], &["--by", "helm"]),
        ["kept ConfigMap/?/a (certain, helm)"]
    );
    assert_eq!(
        effects(&base, &[], &["--by", "flux"]),
        ["deleted ConfigMap/?/a (certain, flux)"]
    );
}

#[test]
fn removed_external_secret_deletes_secret_and_claim_may_lose_data() {
    let secret = in_shop(&object("external-secrets.io/v1", "ExternalSecret", "db"))
        + "spec: {target: {name: login}, secretStoreRef: {name: s}}\n";
    let claim = in_shop(&object("v1", "PersistentVolumeClaim", "data"));
    let base = [("a.yaml", &*secret), ("b.yaml", &*claim)];
    assert_eq!(
        effects(&base, &[], &["--by", "argocd"]),
        [
            "deleted PersistentVolumeClaim/shop/data (certain, argocd)",
            "data-lost PersistentVolumeClaim/shop/data (possible, argocd)",
            "generated-deleted Secret/shop/login (certain, argocd) because ExternalSecret.external-secrets.io/shop/db",
            "deleted ExternalSecret.external-secrets.io/shop/db (certain, argocd)",
        ]
    );
}

#[test]
fn generated_objects_count_as_cascaded() {
    let secret = in_shop(&object("external-secrets.io/v1", "ExternalSecret", "db"))
        + "spec: {target: {name: login}, secretStoreRef: {name: s}}\n";
    let folder = Folder::new();
    folder.write("base/a.yaml", &secret);
    folder.write("head/b.yaml", &config("b"));
    let document = folder
        .run("", &["--base", "base", "--head", "head", "--by", "argocd"])
        .expect("effects");
    let summary = &document["summary"];
    assert_eq!(
        (&summary["deleted"], &summary["cascaded"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn removed_flux_kustomization_prunes_only_if_its_parent_prunes() {
    let a = in_shop(&config("a"));
    let cluster = FLUX
        .replace("app, namespace", "cluster, namespace")
        .replace("./app", "./clusters");
    let base = [
        ("clusters/cluster.yaml", &*cluster),
        ("clusters/app.yaml", FLUX),
        ("app/a.yaml", &*a),
    ];
    let head = [("clusters/cluster.yaml", &*cluster), ("app/a.yaml", &*a)];
    assert_eq!(
        effects(&base, &head, &[]),
        [
            "deleted ConfigMap/shop/a (certain, flux)",
            "deleted Kustomization.kustomize.toolkit.fluxcd.io/flux-system/app (certain, flux)",
        ]
    );
    let keeping = cluster.replace("prune: true", "prune: false");
    let base = [
        ("clusters/cluster.yaml", &*keeping),
        ("clusters/app.yaml", FLUX),
        ("app/a.yaml", &*a),
    ];
    let head = [("clusters/cluster.yaml", &*keeping)];
    assert_eq!(
        effects(&base, &head, &[]),
        [
            "orphaned ConfigMap/shop/a (certain, flux)",
            "orphaned Kustomization.kustomize.toolkit.fluxcd.io/flux-system/app (certain, flux)",
        ]
    );
}

#[test]
fn orphaned_kustomization_still_applies_its_sources() {
    let cluster = FLUX
        .replace("app, namespace", "cluster, namespace")
        .replace("./app", "./clusters");
    let keeping = cluster.replace("prune: true", "prune: false");
    let (a, b) = (in_shop(&config("a")), in_shop(&config("b")));
    let kustomization = "resources: [a.yaml, b.yaml]\n";
    let sources = [
        ("clusters/cluster.yaml", &*keeping),
        ("app/a.yaml", &*a),
        ("app/kustomization.yaml", kustomization),
    ];
    let base = [
        &sources[..],
        &[("clusters/app.yaml", FLUX), ("app/b.yaml", &*b)],
    ]
    .concat();
    let orphaned =
        "orphaned Kustomization.kustomize.toolkit.fluxcd.io/flux-system/app (certain, flux)";
    assert_eq!(
        effects(&base, &[&sources[..], &[("app/b.yaml", &*b)]].concat(), &[]),
        [
            "orphaned ConfigMap/shop/a (certain, flux)",
            "orphaned ConfigMap/shop/b (certain, flux)",
            orphaned
        ]
    );
    let shorter = [
        sources[0],
        sources[1],
        ("app/kustomization.yaml", "resources: [a.yaml]\n"),
        ("app/b.yaml", &*b),
    ];
    assert_eq!(
        effects(&base, &shorter, &[]),
        [
            "orphaned ConfigMap/shop/a (certain, flux)",
            "deleted ConfigMap/shop/b (certain, flux)",
            orphaned
        ]
    );
}

#[test]
fn kustomization_with_missing_folder_prunes_nothing() {
    let a = in_shop(&config("a"));
    let flux = ("flux.yaml", FLUX);
    let base = [flux, ("app/a.yaml", &*a)];
    let left = ["orphaned ConfigMap/shop/a (certain, flux)"];
    assert_eq!(
        effects(&base, &[flux], &[]),
        left,
        "Flux reports that the path is not found"
    );
    let empty = ["deleted ConfigMap/shop/a (certain, flux)"];
    assert_eq!(
        effects(&base, &[flux, ("app/README.md", "It was here.")], &[]),
        empty,
        "what is left builds to nothing"
    );
    let elsewhere = FLUX.replace("./app", "./shop");
    let b = object("v1", "Secret", "b");
    let moved = effects(
        &base,
        &[("flux.yaml", &elsewhere), ("shop/b.yaml", &b)],
        &[],
    );
    assert_eq!(
        moved,
        ["deleted ConfigMap/shop/a (certain, flux)"],
        "it builds from another folder"
    );
}

#[test]
fn kustomization_with_rejected_update_prunes_nothing_unless_forced() {
    let claim = |mode: &str| {
        object("v1", "PersistentVolumeClaim", "data")
            + &format!("spec: {{accessModes: [{mode}]}}\n")
    };
    let a = in_shop(&config("a"));
    let [before, after] = ["ReadWriteOnce", "ReadWriteMany"].map(|mode| in_shop(&claim(mode)));
    let pruned = |flux: &str| {
        let base = [
            ("flux.yaml", flux),
            ("app/data.yaml", &before),
            ("app/a.yaml", &a),
        ];
        effects(
            &base,
            &[("flux.yaml", flux), ("app/data.yaml", &after)],
            &[],
        )
    };
    assert_eq!(
        pruned(FLUX),
        ["orphaned ConfigMap/shop/a (certain, flux)"],
        "the API server rejects the claim"
    );
    let forced = FLUX.replace("prune: true", "prune: true, force: true");
    assert_eq!(
        pruned(&forced),
        [
            "deleted ConfigMap/shop/a (certain, flux)",
            "data-lost PersistentVolumeClaim/shop/data (possible, flux)",
            "recreated PersistentVolumeClaim/shop/data (certain, flux)"
        ],
        "the claim is deleted and created again"
    );
}

#[test]
fn kustomization_with_failing_build_prunes_nothing() {
    let a = in_shop(&config("a"));
    let files = |list: &'static str| {
        [
            ("flux.yaml", FLUX),
            ("app/kustomization.yaml", list),
            ("app/sub/a.yaml", &*a),
            ("app/sub/b.yaml", ""),
        ]
    };
    let (named, folder) = (
        files("resources: [sub/a.yaml]\n"),
        files("resources: [sub]\n"),
    );
    assert_eq!(
        effects(&named, &folder, &[]),
        ["kept ConfigMap/shop/a (certain, flux)"],
        "the folder has no kustomization"
    );
    let with = [
        &folder[..],
        &[("app/sub/kustomization.yaml", "resources: [b.yaml]\n")],
    ]
    .concat();
    assert_eq!(
        effects(&named, &with, &[]),
        ["deleted ConfigMap/shop/a (certain, flux)"]
    );
}

#[test]
fn kustomization_with_broken_file_prunes_nothing() {
    let (a, b) = (in_shop(&config("a")), in_shop(&config("b")));
    let base = [
        ("flux.yaml", FLUX),
        ("app/kustomization.yaml", "resources: [a.yaml, b.yaml]\n"),
        ("app/a.yaml", &a),
        ("app/b.yaml", &b),
    ];
    let broken = format!("{a}data: {{colour: *blue}}\n");
    let stays = [
        "kept ConfigMap/shop/a (certain, flux)",
        "kept ConfigMap/shop/b (certain, flux)",
    ];
    assert_eq!(
        effects(
            &base,
            &[
                base[0],
                ("app/kustomization.yaml", "resources: [a.yaml]\n"),
                ("app/a.yaml", &broken)
            ],
            &[]
        ),
        stays,
        "an alias without an anchor"
    );
    assert_eq!(
        effects(&base, &[base[0], ("app/a.yaml", &broken)], &[]),
        stays,
        "Flux lists the files itself"
    );
}

#[test]
fn bootstrap_repository_is_recognised_if_its_file_moves() {
    let a = in_shop(&config("a"));
    let base = [
        ("flux-system/gotk-sync.yaml", BOOTSTRAP),
        ("apps/a.yaml", &*a),
    ];
    let moved = [("flux-system/sync.yaml", BOOTSTRAP), ("apps/a.yaml", &*a)];
    assert_eq!(
        effects(&base, &moved, &[]),
        [""; 0],
        "the same objects in another file"
    );
    let gone = ["deleted ConfigMap/shop/a (certain, flux)"];
    assert_eq!(effects(&base, &moved[..1], &[]), gone);
}

#[test]
fn removed_application_without_finalizer_deletes_no_objects() {
    let app = |finalizer: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: app, namespace: argocd{finalizer}}}\nspec: {{source: {{path: app}}, destination: {{namespace: shop}}}}\n"
        )
    };
    let parent = app("")
        .replace("name: app,", "name: parent,")
        .replace("path: app}", "path: apps}")
        + "  syncPolicy: {automated: {prune: true, allowEmpty: true}}\n";
    let parent = parent.replace(
        "spec: {source: {path: apps}, destination: {namespace: shop}}",
        "spec:\n  source: {path: apps}",
    );
    let a = config("a");
    let what_goes = |finalizer: &str| {
        let app = app(finalizer);
        let base = [
            ("parent.yaml", &*parent),
            ("apps/app.yaml", &*app),
            ("app/a.yaml", &*a),
        ];
        effects(
            &base,
            &[
                ("parent.yaml", &*parent),
                ("apps/none.yaml", ""),
                ("app/a.yaml", &*a),
            ],
            &[],
        )
    };
    assert_eq!(
        what_goes(", finalizers: [resources-finalizer.argocd.argoproj.io]"),
        [
            "deleted ConfigMap/shop/a (certain, argocd)",
            "deleted Application.argoproj.io/argocd/app (certain, argocd)",
        ]
    );
    let left = what_goes("");
    assert!(
        !left
            .iter()
            .any(|effect| effect.starts_with("deleted ConfigMap")),
        "{left:?}"
    );
}

#[test]
fn application_deletion_does_not_wait_for_objects_of_another() {
    let app = |name: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}}\nspec: {{source: {{path: {name}}}}}\n"
        )
    };
    let parent = app("apps").replace(
        "path: apps}",
        "path: apps}, syncPolicy: {automated: {prune: true, allowEmpty: true}}",
    );
    let held = config("held").replacen(
        "metadata:\n",
        "metadata:\n  finalizers: [example.com/nobody]\n",
        1,
    );
    let (quick, slow, free) = (app("quick"), app("slow"), config("free"));
    let stays = [
        ("parent.yaml", &*parent),
        ("apps/none.yaml", ""),
        ("quick/a.yaml", &*free),
        ("slow/a.yaml", &*held),
    ];
    let base = [
        &stays[..],
        &[("apps/quick.yaml", &*quick), ("apps/slow.yaml", &*slow)],
    ]
    .concat();
    let effects = effects(&base, &stays, &[]);
    for effect in [
        "stuck ConfigMap/?/held (possible, argocd)",
        "deleted ConfigMap/?/free (certain, argocd)",
        "deleted Application.argoproj.io/argocd/quick (certain, argocd)",
    ] {
        assert!(
            effects.iter().any(|said| said == effect),
            "{effect}: {effects:?}"
        );
    }
}

#[test]
fn stuck_sync_wave_does_not_block_another_application() {
    let app = |name: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}}\nspec: {{source: {{path: {name}}}, destination: {{namespace: shop}}, syncPolicy: {{automated: {{prune: true, allowEmpty: true}}}}}}\n"
        )
    };
    let wave = |name: &str, wave: &str| {
        config(name)
            + &format!(
                "metadata: {{name: {name}, annotations: {{argocd.argoproj.io/sync-wave: '{wave}'}}}}\n"
            )
    };
    let wave = |name: &str, number: &str| {
        wave(name, number).replacen(&format!("metadata:\n  name: {name}\n"), "", 1)
    };
    let held = wave("held", "1").replace(
        "annotations:",
        "finalizers: [example.com/nobody], annotations:",
    );
    let (first, second, free, later) = (
        held,
        wave("after", "0"),
        wave("free", "1"),
        wave("later", "0"),
    );
    let apps = [("a.yaml", &*app("a")), ("b.yaml", &*app("b"))];
    let base = [
        &apps[..],
        &[
            ("a/1.yaml", &first),
            ("a/2.yaml", &second),
            ("b/1.yaml", &free),
            ("b/2.yaml", &later),
        ],
    ]
    .concat();
    assert_eq!(
        effects(
            &base,
            &[apps[0], apps[1], ("a/x.yaml", ""), ("b/x.yaml", "")],
            &[]
        ),
        [
            "deleted ConfigMap/shop/free (certain, argocd)",
            "stuck ConfigMap/shop/held (possible, argocd)",
            "deleted ConfigMap/shop/later (certain, argocd)",
        ],
        "`after` is never asked for: its own Application waits for `held`"
    );
}

#[test]
fn waiting_kustomization_does_not_block_another() {
    let flux = |name: &str, policy: &str| {
        FLUX.replace("app,", &format!("{name},"))
            .replace("./app", &format!("./{name}"))
            .replace("prune: true", &format!("prune: true{policy}"))
    };
    let cluster = FLUX
        .replace("app, namespace", "cluster, namespace")
        .replace("./app", "./clusters");
    let held = in_shop(&config("held")).replacen(
        "metadata:\n",
        "metadata:\n  finalizers: [example.com/nobody]\n",
        1,
    );
    let (waits, quick, free) = (
        flux("a", ", deletionPolicy: WaitForTermination"),
        flux("b", ""),
        in_shop(&config("free")),
    );
    let stays = [("clusters/cluster.yaml", &*cluster)];
    let base = [
        &stays[..],
        &[
            ("clusters/a.yaml", &*waits),
            ("clusters/b.yaml", &*quick),
            ("a/held.yaml", &*held),
            ("b/free.yaml", &*free),
        ],
    ]
    .concat();
    let effects = effects(&base, &stays, &[]);
    for effect in [
        "stuck ConfigMap/shop/held (possible, flux)",
        "deleted ConfigMap/shop/free (certain, flux)",
    ] {
        assert!(
            effects.iter().any(|said| said == effect),
            "{effect}: {effects:?}"
        );
    }
}

#[test]
fn removed_claim_is_stuck_only_if_head_mounts_it() {
    let claim = in_shop(&object("v1", "PersistentVolumeClaim", "data"));
    let mounting = |volume: &str, more: &str| {
        in_shop(&object("apps/v1", "Deployment", "web"))
            + &format!(
                "spec:\n{more}  selector: {{matchLabels: {{app: web}}}}\n  template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [], volumes: [{{name: d, {volume}}}]}}}}\n"
            )
    };
    let claimed = "persistentVolumeClaim: {claimName: data}";
    let base = [("a.yaml", &*claim), ("web.yaml", &*mounting(claimed, ""))];
    let after = |volume: &str, more: &str| {
        let said = effects(
            &base,
            &[("web.yaml", &*mounting(volume, more))],
            &["--by", "flux"],
        );
        said.iter()
            .map(|effect| effect.split(' ').next().expect("a word").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(after("emptyDir: {}", ""), ["deleted", "data-lost"]);
    assert_eq!(after(claimed, "  replicas: 0\n"), ["deleted", "data-lost"]);
    assert_eq!(after(claimed, ""), ["stuck", "data-lost"]);
}

#[test]
fn removed_claim_is_held_by_surviving_and_finished_pods() {
    let claim = in_shop(&object("v1", "PersistentVolumeClaim", "data"));
    let pods = |volume: &str| {
        format!(
            "template: {{metadata: {{labels: {{app: web}}}}, spec: {{restartPolicy: Never, containers: [], volumes: [{{name: d, {volume}}}]}}}}"
        )
    };
    let (claimed, changed, other) = (
        pods("persistentVolumeClaim: {claimName: data}"),
        pods("persistentVolumeClaim: {claimName: data, readOnly: true}"),
        pods("emptyDir: {}"),
    );
    let workload = |version: &str, kind: &str, spec: &str, pods: &str| {
        in_shop(&object(version, kind, "web")) + &format!("spec: {{{spec}{pods}}}\n")
    };
    let first_of = |version: &str, kind: &str, spec: &str, after: &str| {
        let wrap = |pods: &str| match kind {
            "CronJob" => format!("jobTemplate: {{spec: {{{pods}}}}}"),
            _ => pods.to_owned(),
        };
        let (old, new) = (
            workload(version, kind, spec, &wrap(&claimed)),
            workload(version, kind, spec, &wrap(after)),
        );
        let said = effects(
            &[("a.yaml", &claim), ("web.yaml", &old)],
            &[("web.yaml", &new)],
            &["--by", "flux"],
        );
        said[0].split(' ').next().expect("a word").to_owned()
    };
    let selector = "selector: {matchLabels: {app: web}}, ";
    let with = |more: &str| format!("{selector}{more}, ");
    for (kind, spec, after, end) in [
        // A rolling update keeps the old Pod until the new one runs, which needs the claim.
        ("Deployment", selector.to_owned(), &changed, "stuck"),
        (
            "Deployment",
            with("strategy: {type: Recreate}"),
            &changed,
            "deleted",
        ),
        (
            "Deployment",
            with("strategy: {type: Recreate}"),
            &claimed,
            "stuck",
        ),
        ("StatefulSet", selector.to_owned(), &changed, "deleted"),
        ("StatefulSet", with("replicas: 3"), &changed, "stuck"),
        ("StatefulSet", with("replicas: 3"), &other, "deleted"),
        (
            "StatefulSet",
            with("updateStrategy: {type: OnDelete}"),
            &other,
            "stuck",
        ),
        ("DaemonSet", selector.to_owned(), &changed, "deleted"),
    ] {
        assert_eq!(
            first_of("apps/v1", kind, &spec, after),
            end,
            "{kind} {spec} {after}"
        );
    }
    // [FIN-14]: a Pod that has finished still holds its claims.
    assert_eq!(first_of("batch/v1", "Job", "", &claimed), "stuck");
    assert_eq!(
        first_of("batch/v1", "CronJob", "schedule: '@daily', ", &claimed),
        "stuck"
    );
    assert_eq!(
        first_of("batch/v1", "CronJob", "schedule: '@daily', ", &other),
        "deleted"
    );
}

#[test]
fn renamed_application_races_over_its_objects() {
    let app = |name: &str, path: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}}\nspec:\n  source: {{path: {path}}}\n  destination: {{namespace: shop}}\n  syncPolicy: {{automated: {{prune: true}}}}\n"
        )
    };
    let (root, old, new, a) = (
        app("root", "apps"),
        app("old", "shop"),
        app("new", "shop"),
        config("a"),
    );
    let common = [("root.yaml", &*root), ("shop/a.yaml", &*a)];
    let (base, head) = (
        [&common[..], &[("apps/shop.yaml", &old)]].concat(),
        [&common[..], &[("apps/shop.yaml", &new)]].concat(),
    );
    assert_eq!(
        effects(&base, &head, &[]),
        [
            "recreated ConfigMap/shop/a (race, argocd)",
            "deleted Application.argoproj.io/argocd/old (certain, argocd)"
        ]
    );
}

#[test]
fn moved_object_is_safe_only_if_new_kustomization_applies_first() {
    let flux = |name: &str, more: &str| {
        FLUX.replace("app,", &format!("{name},"))
            .replace("prune: true", &format!("prune: true{more}"))
    };
    let (claim, kept) = (
        in_shop(&object("v1", "PersistentVolumeClaim", "data")),
        in_shop(&config("kept")),
    );
    let kept = kept.replacen(
        "metadata:\n",
        "metadata:\n  annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}\n",
        1,
    );
    let moved = |old: &str, new: &str| {
        let (old, new) = (flux("old", old), flux("new", new));
        let common = [
            ("old.yaml", &*old),
            ("new.yaml", &*new),
            ("old/x.yaml", ""),
            ("new/x.yaml", ""),
        ];
        let base = [
            &common[..],
            &[("old/a.yaml", &*claim), ("old/b.yaml", &*kept)],
        ]
        .concat();
        effects(
            &base,
            &[
                &common[..],
                &[("new/a.yaml", &*claim), ("new/b.yaml", &*kept)],
            ]
            .concat(),
            &[],
        )
    };
    let said = |certainty: &str| {
        vec![
            "data-lost PersistentVolumeClaim/shop/data (possible, flux)".to_owned(),
            format!("recreated PersistentVolumeClaim/shop/data ({certainty}, flux)"),
        ]
    };
    assert_eq!(moved("", ""), said("race"));
    assert_eq!(moved("", ", dependsOn: [{name: old}]"), said("certain"));
    assert_eq!(moved(", dependsOn: [{name: new}]", ""), [""; 0]);
    assert_eq!(moved(", suspend: true", ""), [""; 0]);
}

#[test]
fn namespace_moved_between_kustomizations_may_be_recreated_with_content() {
    let old = FLUX.replace("app,", "old,").replace("./app", "./old");
    let (namespace, a) = (object("v1", "Namespace", "shop"), in_shop(&config("a")));
    let common = [
        ("old.yaml", &*old),
        ("new.yaml", FLUX),
        ("old/x.yaml", ""),
        ("app/a.yaml", &*a),
    ];
    let base = [&common[..], &[("old/ns.yaml", &*namespace)]].concat();
    let head = [&common[..], &[("app/ns.yaml", &*namespace)]].concat();
    assert_eq!(
        effects(&base, &head, &[]),
        [
            "recreated ConfigMap/shop/a (race, flux) because Namespace//shop",
            "recreated Namespace//shop (race, flux)"
        ]
    );
    let folder = Folder::new();
    for (side, files) in [("base", &base), ("head", &head)] {
        for (path, text) in files {
            folder.write(&format!("{side}/{path}"), text);
        }
    }
    let document = folder
        .run("", &["--base", "base", "--head", "head"])
        .expect("effects");
    let finding = &document["findings"][0];
    let message = finding["message"].as_str().expect("message");
    assert_eq!(
        message,
        "moving Namespace `shop` to Kustomization `flux-system/app` may delete it and ConfigMap `a`, before they are created again"
    );
    let help = finding["help"].as_str().expect("help");
    assert!(
        help.contains("prune: disabled` and merge; then move it and merge"),
        "{help}"
    );
}

#[test]
fn definition_moved_between_kustomizations_may_recreate_instances() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {kind: Widget, plural: widgets}\n  versions: [{name: v1, served: true, storage: true}]\n";
    let (a, widget) = (config("a"), object("example.com/v1", "Widget", "w"));
    let delete = "resources: [../base]\npatches:\n- patch: |\n    $patch: delete\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n";
    let crds = FLUX.replace("app", "crds");
    let all = |list| {
        [
            ("base/a.yaml", &*a),
            ("base/w.yaml", &*widget),
            ("base/kustomization.yaml", list),
        ]
    };
    let common = [
        ("flux/app.yaml", FLUX),
        ("flux/crds.yaml", &*crds),
        ("app/kustomization.yaml", delete),
    ];
    let old = [
        ("base/crd.yaml", crd),
        ("crds/kustomization.yaml", "resources: []\n"),
    ];
    let base = [
        &common[..],
        &all("resources: [a.yaml, w.yaml, crd.yaml]\n"),
        &old,
    ]
    .concat();
    let new = [
        ("crds/crd.yaml", crd),
        ("crds/kustomization.yaml", "resources: [crd.yaml]\n"),
    ];
    let head = [&common[..], &all("resources: [a.yaml, w.yaml]\n"), &new].concat();
    let definition = "CustomResourceDefinition.apiextensions.k8s.io//widgets.example.com";
    assert_eq!(
        effects(&base, &head, &[]),
        [
            format!("recreated {definition} (race, flux)"),
            format!("recreated Widget.example.com//w (race, flux) because {definition}"),
        ]
    );
}

#[test]
fn rejected_helm_upgrade_removes_nothing() {
    let workload = |label: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec:\n  selector: {{matchLabels: {{app: {label}}}}}\n  template: {{metadata: {{labels: {{app: {label}}}}}, spec: {{containers: []}}}}\n"
        )
    };
    let (a, old, new) = (config("a"), workload("a"), workload("b"));
    assert_eq!(
        effects(
            &[("a.yaml", &a), ("web.yaml", &old)],
            &[("web.yaml", &new)],
            &["--by", "helm"]
        ),
        ["orphaned ConfigMap/?/a (certain, helm)"]
    );
    let folder = Folder::new();
    folder
        .write("base/a.yaml", &a)
        .write("base/web.yaml", &old)
        .write("head/web.yaml", &new);
    let document = folder
        .run("", &["--base", "base", "--head", "head", "--by", "helm"])
        .expect("effects");
    assert_eq!(
        document["notes"],
        serde_json::json!([
            "Helm fails to upgrade, because the API server rejects the update of Deployment.apps/shop/web: 1 object that left stays in the cluster"
        ])
    );
}

#[test]
fn human_output_ends_with_summary_of_deletions() {
    let folder = Folder::new();
    folder
        .write("base/ns.yaml", &object("v1", "Namespace", "shop"))
        .write("base/a.yaml", &in_shop(&config("a")));
    folder.write("head/a.yaml", &in_shop(&config("a")));
    let mut command = crate::support::ownerlint();
    command
        .current_dir(folder.path())
        .args(["diff", "--by", "flux", "--base", "base", "--head", "head"]);
    let output = String::from_utf8(command.output().expect("it runs").stdout).expect("text");
    assert!(
        output.contains("Deleted with another object\n  ConfigMap/shop/a, with Namespace//shop\n"),
        "{output}"
    );
    assert!(
        output.ends_with("1 removed\nMerging this deletes 2 objects (1 by cascade): Namespace `shop` and ConfigMap `a`\n"),
        "{output}"
    );
}

#[test]
fn plan_contains_added_objects_except_in_deleted_namespace() {
    let folder = Folder::new();
    folder.write("base/ns.yaml", &object("v1", "Namespace", "shop"));
    folder
        .write("head/a.yaml", &in_shop(&config("a")))
        .write("head/b.yaml", &config("b"));
    let document = folder
        .run("", &["--by", "flux", "--base", "base", "--head", "head"])
        .expect("a plan");
    let objects = document["plan"]["outcomes"][0]["objects"]
        .as_object()
        .expect("objects");
    assert_eq!(objects["Namespace//shop"], "gone");
    assert_eq!(objects["ConfigMap/?/b"]["terminating"], false);
    assert!(!objects.contains_key("ConfigMap/shop/a"));
}

#[test]
fn implied_claims_and_secrets_are_deleted_with_namespace() {
    let set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: db}}\n  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: db}]}}\n  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: CLASS}}]\n";
    let certificate = in_shop(&object("cert-manager.io/v1", "Certificate", "web"))
        + "spec: {secretName: web-tls}\n";
    let namespace = object("v1", "Namespace", "shop");
    let kept = object("storage.k8s.io/v1", "StorageClass", "kept")
        + "provisioner: p\nreclaimPolicy: Retain\n";
    let gone = |class: &str| {
        let set = set.replace("CLASS", class);
        let base = [
            ("ns.yaml", &*namespace),
            ("a.yaml", &*set),
            ("b.yaml", &*certificate),
            ("c.yaml", &*kept),
        ];
        let effects = effects(&base, &base[1..], &["--by", "flux"]);
        effects
            .into_iter()
            .filter(|effect| !effect.starts_with("cascaded"))
            .collect::<Vec<_>>()
    };
    let deleted = [
        "generated-deleted PersistentVolumeClaim/shop/data-db-0 (certain, flux) because Namespace//shop",
        "generated-deleted PersistentVolumeClaim/shop/data-db-1 (certain, flux) because Namespace//shop",
    ];
    let others = [
        "deleted Namespace//shop (certain, flux)",
        "generated-deleted Secret/shop/web-tls (certain, flux) because Namespace//shop",
    ];
    let all = gone("kept");
    assert!(
        deleted
            .iter()
            .chain(&others)
            .all(|effect| all.contains(&(*effect).to_owned())),
        "{all:#?}"
    );
    assert_eq!(all.len(), 4, "the volumes are retained: {all:#?}");
    let lost = gone("other")
        .into_iter()
        .filter(|effect| effect.starts_with("data-lost PersistentVolumeClaim"));
    assert_eq!(lost.count(), 2, "they may be deleted");
}

#[test]
fn unknown_finalizer_makes_object_possibly_stuck() {
    let of = |finalizer: &str| {
        let held = in_shop(&config("a")).replacen(
            "metadata:\n",
            &format!("metadata:\n  finalizers: [{finalizer}]\n"),
            1,
        );
        let namespace = object("v1", "Namespace", "shop");
        let stays = in_shop(&config("stays")).replace("namespace: shop", "namespace: other");
        let base = [
            ("flux.yaml", FLUX),
            ("app/b.yaml", &*stays),
            ("app/a.yaml", &*held),
            ("app/ns.yaml", &*namespace),
        ];
        effects(&base, &base[..2], &[])
    };
    assert_eq!(
        of("example.com/nobody"),
        [
            "stuck ConfigMap/shop/a (possible, flux)",
            "stuck Namespace//shop (possible, flux)"
        ]
    );
}

#[test]
fn new_remote_resource_makes_deletion_possible() {
    let of = |before: &str, after: &str| {
        let kustomization = |resources: &str| format!("resources: [{resources}]\n");
        let (before, after) = (kustomization(before), kustomization(after));
        let [a, b] = ["a", "b"].map(|name| in_shop(&config(name)));
        let stays = [("flux.yaml", FLUX), ("app/b.yaml", &*b)];
        let base = [
            &stays[..],
            &[("app/kustomization.yaml", &*before), ("app/a.yaml", &*a)],
        ]
        .concat();
        effects(
            &base,
            &[&stays[..], &[("app/kustomization.yaml", &*after)]].concat(),
            &[],
        )
    };
    let remote = "\"https://example.com/a.yaml\"";
    assert_eq!(
        of("a.yaml, b.yaml", &format!("b.yaml, {remote}")),
        ["deleted ConfigMap/shop/a (possible, flux)"]
    );
    assert_eq!(
        of(
            &format!("a.yaml, b.yaml, {remote}"),
            &format!("b.yaml, {remote}")
        ),
        ["deleted ConfigMap/shop/a (certain, flux)"]
    );
}

#[test]
fn remote_resource_of_new_kustomization_makes_deletion_possible() {
    let (a, flux) = (in_shop(&config("a")), ("flux.yaml", FLUX));
    let of = |kustomization: &str| {
        effects(
            &[flux, ("app/crds/a.yaml", &*a)],
            &[
                flux,
                ("app/crds/a.yaml", &*a),
                ("app/crds/kustomization.yaml", kustomization),
            ],
            &[],
        )
    };
    assert_eq!(
        of("resources: [https://example.com/a.yaml]\n"),
        ["deleted ConfigMap/shop/a (possible, flux)"]
    );
    assert_eq!(
        of("resources: []\n"),
        ["deleted ConfigMap/shop/a (certain, flux)"]
    );
}

#[test]
fn kubectl_kustomization_that_fails_in_head_deletes_nothing() {
    let (a, b) = (config("a"), config("b"));
    let root = ("kustomization.yaml", "resources: [a.yaml, b.yaml]\n");
    let old = [root, ("a.yaml", &*a), ("b.yaml", &*b)];
    assert_eq!(
        effects(&old, &[root, ("a.yaml", &*a)], &[]),
        ["kept ConfigMap/?/b (certain, kubectl)"]
    );
}

#[test]
fn build_that_failed_in_base_makes_deletion_possible() {
    let (a, b) = (in_shop(&config("a")), in_shop(&config("b")));
    let list = |names: &str| format!("resources: [{names}]\n");
    let (broken, mended) = (list("a.yaml, b.yaml, gone.yaml"), list("a.yaml"));
    let files = [
        ("flux.yaml", FLUX),
        ("app/a.yaml", &*a),
        ("app/b.yaml", &*b),
    ];
    let with = |list| [&[("app/kustomization.yaml", list)], &files[..]].concat();
    assert_eq!(
        effects(&with(&broken), &with(&mended), &[]),
        ["deleted ConfigMap/shop/b (possible, flux)"]
    );
}

#[test]
fn flux_annotation_does_not_identify_tool_of_undelivered_folder() {
    let draft = in_shop(&config("draft")).replacen(
        "metadata:\n",
        "metadata:\n  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n",
        1,
    );
    let (a, list) = (in_shop(&config("a")), "resources: [draft.yaml]\n");
    let common = [("flux.yaml", FLUX), ("app/a.yaml", &*a)];
    let old = [
        &common[..],
        &[
            ("drafts/kustomization.yaml", list),
            ("drafts/draft.yaml", &draft),
        ],
    ]
    .concat();
    assert_eq!(
        effects(&old, &common, &[]),
        ["deleted ConfigMap/shop/draft (possible, unknown)"]
    );
}

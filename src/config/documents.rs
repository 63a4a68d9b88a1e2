//! The documents that users write for ownerlint, as types from which the published schemas are derived. They are read
//! through the YAML tree, because serde has no positions; a test compares the keys with those that are read.

#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::delivery::DeliveryTool;
use crate::rules::World;

/// The configuration of ownerlint. Paths and globs are relative to the folder of this file.
#[derive(JsonSchema)]
#[schemars(rename = "config", rename_all = "kebab-case")]
pub(crate) struct ConfigDocument {
    /// The version of this format.
    #[schemars(extend("const" = 1))]
    version: u64,
    /// Named sets of paths, each checked on its own. Without bundles, all input is one bundle.
    bundles: Option<BTreeMap<String, BundleDocument>>,
    /// The namespace of objects without one, in bundles that do not set a namespace.
    namespace: Option<Text>,
    /// The `world` of bundles that do not set it.
    world: Option<World>,
    /// Globs to leave out of every bundle.
    exclude: Option<OneOrMore<Text>>,
    /// The Kubernetes release to check against, such as "1.37".
    #[schemars(extend("type" = ["string", "number"]))]
    kubernetes_version: Option<String>,
    /// The scopes of kinds whose CRD is not in the input.
    scopes: Option<Vec<ScopeDocument>>,
    /// The lowest severity that makes a run fail.
    #[schemars(extend("enum" = ["error", "warning", "info", "never"]))]
    fail_on: Option<String>,
    /// The baseline file. The default is ownerlint-baseline.json beside this file.
    baseline: Option<Text>,
    /// Settings for rules, by id.
    rules: Option<BTreeMap<String, Option<RuleDocument>>>,
    /// The operators that remove finalizers: where each runs, which finalizers it removes, and from which kinds. They
    /// take precedence over the built-in ones.
    controllers: Option<Vec<ControllerDocument>>,
    /// Kinds whose operator creates an object that no manifest contains, such as a Secret. They take precedence over
    /// the built-in ones.
    generators: Option<Vec<GeneratorDocument>>,
    /// Kinds that are data: deleting an object deletes a database, a bucket, a volume. They take precedence over the
    /// built-in ones.
    data: Option<Vec<DataDocument>>,
    /// Files that describe operators: your own, or the output of `ownerlint learn`. `ownerlint schema operator` prints
    /// their schema.
    operators: Option<OneOrMore<Text>>,
    /// All clusters that are registered with Argo CD, for its `clusters` generators. The cluster in which Argo CD runs
    /// need not be listed.
    clusters: Option<Vec<ArgoClusterDocument>>,
    /// How --render renders charts. diff takes this from base.
    charts: Option<ChartsDocument>,
    limits: Option<LimitsDocument>,
}

/// Manifests that are applied together, to one cluster.
#[derive(JsonSchema)]
#[schemars(rename = "bundle")]
struct BundleDocument {
    /// Files, folders and globs to check.
    paths: OneOrMore<Text>,
    /// Globs to leave out.
    exclude: Option<OneOrMore<Text>>,
    /// The namespace of namespaced objects without one.
    namespace: Option<Text>,
    /// closed: the bundle is the whole cluster, and a missing owner is an error.
    world: Option<World>,
    /// The name of the cluster that the bundle is applied to. diff compares bundles of one cluster together, because
    /// removing an object from one bundle can delete objects that another one delivers. A bundle without this key has a
    /// cluster of its own.
    cluster: Option<Text>,
    /// The tool that applies the bundle and deletes the objects that are removed from it. By default, delivery objects,
    /// labels and annotations in the bundle decide; without any, it is kubectl, which deletes nothing. For diff, the
    /// Kustomization or Application that delivers an object always decides.
    delivery: Option<DeliveryTool>,
    /// The program that prints the manifests of the bundle, and its arguments. It is run with --render only, in the
    /// folder of this file and without a shell.
    #[schemars(length(min = 1), extend("type" = "array"))]
    render: Option<Vec<Text>>,
    /// The time that the program may take: 90s, 5m, or a number of seconds. The default is 60 s.
    #[schemars(extend("type" = ["string", "integer"], "minimum" = 1))]
    timeout: Option<String>,
}

/// A kind and its scope.
#[derive(JsonSchema)]
#[schemars(rename = "scope")]
struct ScopeDocument {
    /// The API group; empty for the core group.
    group: String,
    /// The kind, without a version.
    kind: Text,
    /// The served versions. The default is all versions.
    versions: Option<OneOrMore<Text>>,
    #[schemars(extend("enum" = ["Namespaced", "Cluster"]))]
    scope: String,
}

/// Settings for one rule.
#[derive(JsonSchema)]
#[schemars(rename = "rule")]
struct RuleDocument {
    /// The severity of all findings of this rule. off: the rule does not run.
    #[schemars(extend("enum" = ["error", "warning", "info", "off"]))]
    severity: Option<String>,
    /// Objects on which this rule reports nothing.
    ignore: Option<Vec<IgnoreDocument>>,
}

/// Findings to suppress, and why.
#[derive(JsonSchema)]
#[schemars(rename = "ignore")]
struct IgnoreDocument {
    /// A glob for object keys of the form Kind[.group]/namespace/name, such as Deployment.apps/shop/*. `*` matches within
    /// one part, `**` across parts.
    object: Text,
    /// Why the finding is acceptable, or when it will be fixed.
    reason: Text,
    /// The last day on which this entry applies.
    #[schemars(extend("format" = "date", "pattern" = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    expires: Option<String>,
}

/// An operator that removes finalizers. Either images or workload says where it runs.
#[derive(JsonSchema)]
#[schemars(rename = "controller")]
#[schemars(extend("oneOf" = [{ "required": ["images"] }, { "required": ["workload"] }]))]
struct ControllerDocument {
    /// A name for it.
    name: Text,
    /// The images of its containers, or the ends of their paths, such as example/operator. Tags and digests are
    /// ignored; `*` is any part of one segment.
    images: Option<OneOrMore<Text>>,
    /// The key of the object that runs it, such as Deployment.apps/system/operator.
    workload: Option<Text>,
    /// The finalizers that it removes.
    finalizers: OneOrMore<Text>,
    /// The kinds from whose objects it removes them: Kind, Kind.group, or *.group for every kind of a group. Without a
    /// version.
    kinds: OneOrMore<Text>,
    /// run-time: in the cluster, every object of these kinds has the finalizers, although no manifest lists them. written:
    /// only objects whose manifests list them. The default is written.
    #[schemars(extend("enum" = ["run-time", "written"]))]
    adds: Option<String>,
}

/// A kind and what its operator creates for each object.
#[derive(JsonSchema)]
#[schemars(rename = "generator")]
#[schemars(extend("dependentRequired" = { "policy": ["owns"], "owns": ["policy"], "default": ["policy"] }))]
struct GeneratorDocument {
    kind: Kinds,
    product: ProductDocument,
    /// The field that decides whether the product is deleted with the object. Without this key, it always is.
    policy: Option<Field>,
    /// The values of the policy for which the product is deleted together with the object.
    owns: Option<OneOrMore<Word>>,
    /// The value that applies if the field is not set.
    default: Option<Word>,
}

/// An object that an operator creates.
#[derive(JsonSchema)]
#[schemars(rename = "product")]
struct ProductDocument {
    /// Its kind: Secret, Kind.group.
    kind: Text,
    /// The field with its name, such as spec.target.name. Of several fields, separated by a
    /// vertical bar, the first that is set is used. Braces insert a field into a text:
    /// {metadata.name}-app.
    name: Text,
    /// The field with its namespace. The default is the namespace of the object.
    namespace: Option<Field>,
}

/// A kind that is data.
#[derive(JsonSchema)]
#[schemars(rename = "data")]
#[schemars(extend("dependentRequired" = { "keep": ["values"], "values": ["keep"] }))]
struct DataDocument {
    kind: Kinds,
    /// The field that can keep the data when the object is deleted. Without it, the data is always deleted.
    keep: Option<Field>,
    /// The values of the field that keep the data.
    values: Option<OneOrMore<Word>>,
}

/// A cluster that Argo CD knows.
#[derive(JsonSchema)]
#[schemars(rename = "argoCluster")]
struct ArgoClusterDocument {
    /// The name that Argo CD gives it.
    name: Text,
    /// The address of its API server.
    server: Text,
    /// The labels of its Secret.
    labels: Option<BTreeMap<String, String>>,
    /// The annotations of its Secret.
    annotations: Option<BTreeMap<String, String>>,
}

/// The limits of a run, which ends with an error if one is exceeded. A change cannot raise the limits of its own
/// comparison.
#[derive(JsonSchema)]
#[schemars(rename = "limits")]
struct LimitsDocument {
    /// The maximum number of copies of objects that kustomizations, delivery objects and bundles make together. The
    /// first copy of each object does not count. The default is 150000.
    #[schemars(range(min = 1))]
    instances: Option<u64>,
    /// The maximum number of Applications and Flux Kustomizations. The default is 50000.
    #[schemars(range(min = 1))]
    deliveries: Option<u64>,
    /// The maximum number of bundles in the configuration. The default is 2000.
    #[schemars(range(min = 1))]
    bundles: Option<u64>,
    /// The maximum nesting depth of kustomizations. The default is 64.
    #[schemars(range(min = 1))]
    nesting: Option<u64>,
    /// The maximum number of bytes of text that variables, templates and patches make together. The default is 50000000.
    #[schemars(range(min = 1))]
    text: Option<u64>,
}

/// How charts are rendered with --render.
#[derive(JsonSchema)]
#[schemars(rename = "charts")]
struct ChartsDocument {
    /// Hosts from which charts are fetched even if only the change names them, as with --render-from.
    hosts: Option<OneOrMore<Text>>,
    /// The time that helm may take to fetch a chart, and to render one: 90s, 5m, or a number of seconds. The default is 120 s to
    /// fetch and 60 s to render.
    #[schemars(extend("type" = ["string", "integer"], "minimum" = 1))]
    timeout: Option<String>,
}

/// A non-empty text.
#[derive(JsonSchema)]
#[schemars(rename = "text")]
struct Text(#[schemars(length(min = 1))] String);

/// A word as Kubernetes compares it.
#[derive(JsonSchema)]
#[schemars(rename = "word")]
struct Word(#[schemars(length(min = 1), extend("type" = ["string", "boolean", "integer"]))] String);

/// Kind, Kind.group, or *.group for every kind of a group. Without a version.
#[derive(JsonSchema)]
#[schemars(rename = "kinds")]
struct Kinds(#[schemars(length(min = 1))] String);

/// A path to a field: spec.target.name, spec.volumes[].claim, metadata.annotations["a.b/c"].
#[derive(JsonSchema)]
#[schemars(rename = "field")]
struct Field(#[schemars(length(min = 1))] String);

/// A list of texts, or a single text.
#[derive(JsonSchema)]
#[schemars(rename = "{T}s", untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

/// The steps of `plan --steps`, which are applied to the cluster in order. After each step, the controllers run until
/// nothing changes. Other keys are ignored.
#[derive(JsonSchema)]
#[schemars(rename = "steps")]
pub(crate) struct StepsDocument(Vec<StepDocument>);

/// A step.
#[derive(JsonSchema)]
#[schemars(rename = "step")]
#[schemars(extend(
    "additionalProperties" = true,
    "allOf" = [
        {
            "if": { "properties": { "op": { "enum": ["delete", "remove-finalizer", "remove-all-finalizers", "force-delete"] } } },
            "then": { "required": ["target"], "properties": { "target": { "type": "string", "minLength": 1 } } }
        },
        {
            "if": { "properties": { "op": { "const": "remove-finalizer" } } },
            "then": { "required": ["finalizer"], "properties": { "finalizer": { "type": "string", "minLength": 1 } } }
        }
    ]
))]
struct StepDocument {
    /// settle only lets the controllers run; force-delete is `kubectl delete --force --grace-period=0`.
    #[schemars(extend("enum" = ["settle", "delete", "remove-finalizer", "remove-all-finalizers", "force-delete"]))]
    op: String,
    /// The object, as kubectl writes it (`deployment/web -n shop`) or by its key (`Deployment.apps/shop/web`). A
    /// complete key need not name an object of the input: the API server answers 404, and nothing changes.
    target: Option<String>,
    /// The propagation policy of a delete, in upper or lower case. Left out, it is Background, which is what kubectl sends;
    /// null or none sends no policy.
    #[schemars(regex(pattern = "^([Bb]ackground|[Ff]oreground|[Oo]rphan|[Nn]one)$"))]
    policy: Option<String>,
    /// The finalizer that remove-finalizer removes.
    finalizer: Option<String>,
}

//! Parsing of a configuration.

use std::time::Duration;

use jiff::SignedDuration;

use super::limits::limits;
use super::value::{Values, each, start, tree_of};
use super::{BundleConfig, Config, Mistake, clusters, controllers, operators};
use crate::charts::ChartSettings;
use crate::delivery::DeliveryTool;
use crate::finding::Severity;
use crate::inventory::{ExtraKind, Release};
use crate::kube::Scope;
use crate::manifest::is_namespace_name;
use crate::rules::{self, Rule, World};
use crate::suppression::{Date, Ignore, ObjectPattern};
use crate::text::{SourceFile, Span};
use crate::yaml::{Entry, Value};

const TOP: &[&str] = &[
    "version",
    "bundles",
    "namespace",
    "world",
    "exclude",
    "kubernetes-version",
    "scopes",
    "fail-on",
    "baseline",
    "rules",
    "controllers",
    "generators",
    "data",
    "operators",
    "clusters",
    "charts",
    "limits",
];
const CHARTS: &[&str] = &["hosts", "timeout"];
/// Describes the names that the API server accepts for a namespace.
pub const NAMESPACE_NAME: &str = "a name of lower-case letters, digits and dashes, at most 63, that begins and ends with a letter or digit";

const BUNDLE: &[&str] = &[
    "paths",
    "exclude",
    "namespace",
    "world",
    "cluster",
    "delivery",
    "render",
    "timeout",
];
const SCOPE: &[&str] = &["group", "kind", "versions", "scope"];
const RULE: &[&str] = &["severity", "ignore"];
const IGNORE: &[&str] = &["object", "reason", "expires"];

/// A mapping of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// The name in the schema.
    pub name: &'static str,
    /// The place, as in "`key` belongs at the top level".
    pub place: &'static str,
    /// The known keys.
    pub keys: &'static [&'static str],
}

impl Mapping {
    const fn new(name: &'static str, place: &'static str, keys: &'static [&'static str]) -> Self {
        Self { name, place, keys }
    }
}

/// Every mapping of a configuration.
pub const MAPPINGS: [Mapping; 12] = [
    Mapping::new("config", "at the top level", TOP),
    Mapping::new("bundle", "under `bundles: NAME:`", BUNDLE),
    Mapping::new("scope", "under `scopes:`", SCOPE),
    Mapping::new("rule", "under `rules: RULE:`", RULE),
    Mapping::new("ignore", "under `ignore:` of a rule", IGNORE),
    Mapping::new(
        "controller",
        "under `controllers:`",
        controllers::CONTROLLER,
    ),
    Mapping::new("generator", "under `generators:`", operators::GENERATOR),
    Mapping::new(
        "product",
        "under `product:` of a generator",
        operators::PRODUCT,
    ),
    Mapping::new("data", "under `data:`", operators::DATA),
    Mapping::new("argoCluster", "under `clusters:`", clusters::CLUSTER),
    Mapping::new("charts", "under `charts:`", CHARTS),
    Mapping::new("limits", "under `limits:`", super::limits::LIMITS),
];

/// Says where `key` belongs other than in the mapping with the keys `known`; `None` if nowhere.
pub(super) fn place_of(key: &str, known: &[&str]) -> Option<String> {
    let others = MAPPINGS.iter().filter(|mapping| mapping.keys != known);
    let places: Vec<&str> = others
        .filter(|mapping| mapping.keys.contains(&key))
        .map(|mapping| mapping.place)
        .collect();
    (!places.is_empty()).then(|| format!("`{key}` belongs {}", places.join(" or ")))
}

const WORLDS: [(&str, World); 2] = [("open", World::Open), ("closed", World::Closed)];
const TOOLS: [(&str, DeliveryTool); 4] = [
    ("helm", DeliveryTool::Helm),
    ("argocd", DeliveryTool::ArgoCd),
    ("flux", DeliveryTool::Flux),
    ("kubectl", DeliveryTool::Kubectl),
];
const SEVERITIES: [(&str, Option<Severity>); 4] = [
    ("error", Some(Severity::Error)),
    ("warning", Some(Severity::Warning)),
    ("info", Some(Severity::Info)),
    ("off", None),
];
const FAIL_ON: [(&str, Option<Severity>); 4] = [
    ("error", Some(Severity::Error)),
    ("warning", Some(Severity::Warning)),
    ("info", Some(Severity::Info)),
    ("never", None),
];

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn read(source: SourceFile) -> Result<Self, Mistake> {
        let file = source.clone();
        let tree = tree_of(&file)?.ok_or_else(|| no_version(Values { file: &file }))?;
        let mut config = Self::of_source(source);
        config.take(Values { file: &file }, tree.root())?;
        Ok(config)
    }

    fn take(&mut self, values: Values<'_>, root: Value<'_>) -> Result<(), Mistake> {
        let fields = values.fields(root, "the configuration", TOP)?;
        match fields.iter().find(|field| field.key == "version") {
            None => return Err(no_version(values)),
            Some(version) if version.value.as_int() != Some(1) => {
                let message = "has a version that this ownerlint does not support";
                let mistake = values.mistake(version.value.span(), message);
                return Err(mistake.label("not 1").help("write `version: 1`"));
            }
            Some(_) => {}
        }
        for field in fields {
            match field.key {
                "bundles" => {
                    self.bundles = bundles(values, field.value)?;
                    self.bundles_place = field.key_span;
                }
                "namespace" => self.namespace = Some(namespace(values, field)?),
                "world" => self.world = Some(values.word(field, &WORLDS)?),
                "exclude" => self.exclude = values.globs(field)?,
                "kubernetes-version" => self.kubernetes_version = Some(release(values, field)?),
                "scopes" => {
                    let scopes = values.items(field)?.into_iter();
                    self.scopes = scopes
                        .map(|scope| extra_kind(values, scope))
                        .collect::<Result<_, _>>()?;
                }
                "fail-on" => self.fail_on = Some(values.word(field, &FAIL_ON)?),
                "baseline" => self.baseline = Some(values.string(field)?.to_owned()),
                "rules" => self.take_rules(values, field.value)?,
                "controllers" => self.facts.controllers = controllers::controllers(values, field)?,
                "generators" => self.facts.generators = operators::generators(values, field)?,
                "data" => self.facts.data = operators::data(values, field)?,
                "operators" => self.operator_files = files(values, field)?,
                "clusters" => self.clusters = Some(clusters::clusters(values, field)?),
                "charts" => self.charts = charts(values, field)?,
                "limits" => self.limits = limits(values, field)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn take_rules(&mut self, values: Values<'_>, rules: Value<'_>) -> Result<(), Mistake> {
        for entry in values.mapping(rules, "`rules`")? {
            let rule = rule(values, entry)?;
            let written = values.written(entry.value);
            if SEVERITIES.iter().any(|(word, _)| *word == written) {
                let message = format!("expects a mapping for rule `{}`", rule.id);
                let mistake = values.mistake(entry.value.span(), message).label("here");
                return Err(mistake.help(format!("write `{}: {{severity: {written}}}`", rule.id)));
            }
            for field in values.fields(entry.value, &format!("rule `{}`", rule.id), RULE)? {
                match field.key {
                    "severity" => match values.word(field, &SEVERITIES)? {
                        Some(severity) => {
                            self.severities.insert(rule.id, severity);
                        }
                        None => self.off.push(rule.id),
                    },
                    _ => {
                        for item in values.items(field)? {
                            self.ignores.push(ignore(values, rule, item)?);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads a list of files, each with its place.
fn files(values: Values<'_>, field: Entry<'_>) -> Result<Vec<(String, Span)>, Mistake> {
    each(field, |item| {
        Ok((values.string(item)?.to_owned(), item.value.span()))
    })
}

fn no_version(values: Values<'_>) -> Mistake {
    let mistake = values
        .mistake(Span::empty(0), "has no `version`")
        .label("missing");
    mistake.help("write `version: 1` as the first line")
}

fn bundles(values: Values<'_>, value: Value<'_>) -> Result<Vec<BundleConfig>, Mistake> {
    let mut bundles = Vec::new();
    for entry in values.mapping(value, "`bundles`")? {
        let mut bundle = BundleConfig {
            name: entry.key.to_owned(),
            place: entry.key_span,
            ..BundleConfig::default()
        };
        for field in values.fields(entry.value, &format!("bundle `{}`", entry.key), BUNDLE)? {
            match field.key {
                "paths" => bundle.paths = values.strings(field)?,
                "exclude" => bundle.exclude = values.globs(field)?,
                "namespace" => bundle.namespace = Some(namespace(values, field)?),
                "cluster" => bundle.cluster = Some(values.string(field)?.to_owned()),
                "delivery" => bundle.delivery = Some(values.word(field, &TOOLS)?),
                "render" => bundle.render = Some(arguments(values, field)?),
                "timeout" => bundle.timeout = Some(timeout(values, field)?),
                _ => bundle.world = Some(values.word(field, &WORLDS)?),
            }
        }
        if bundle.paths.is_empty() {
            let message = format!("has no `paths` for bundle `{}`", entry.key);
            let mistake = values
                .mistake(entry.key_span, message)
                .label("reads nothing");
            return Err(mistake.help("write `paths: [folder]`"));
        }
        bundles.push(bundle);
    }
    bundles.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(bundles)
}

/// Reads a program and its arguments. A single text is rejected, because no shell splits it.
fn arguments(values: Values<'_>, field: Entry<'_>) -> Result<Vec<String>, Mistake> {
    let arguments = if field.value.is_seq() {
        values.strings(field)?
    } else {
        Vec::new()
    };
    if arguments.is_empty() {
        let message = format!("expects a list of arguments for `{}`", field.key);
        let mistake = values.mistake(field.value.span(), message);
        return Err(
            mistake.help("it is run without a shell: `render: [helm, template, web, ./chart]`")
        );
    }
    Ok(arguments)
}

/// Reads `charts: {hosts, timeout}`.
fn charts(values: Values<'_>, field: Entry<'_>) -> Result<ChartSettings, Mistake> {
    let mut charts = ChartSettings::default();
    for field in values.fields(field.value, "`charts`", CHARTS)? {
        match field.key {
            "hosts" => charts.hosts = values.strings(field)?,
            _ => charts.timeout = Some(timeout(values, field)?),
        }
    }
    Ok(charts)
}

/// Reads a duration: `90s`, `5m`, or a number of seconds.
fn timeout(values: Values<'_>, field: Entry<'_>) -> Result<Duration, Mistake> {
    let written = values.written(field.value);
    let length = written.parse().ok().map(Duration::from_secs).or_else(|| {
        let length: SignedDuration = written.parse().ok()?;
        Duration::try_from(length).ok()
    });
    length.filter(|length| !length.is_zero()).ok_or_else(|| {
        let mistake = values.mistake(field.value.span(), "has a malformed `timeout`");
        mistake.help("write seconds or a length of time: `timeout: 90s`, `timeout: 5m`")
    })
}

fn release(values: Values<'_>, field: Entry<'_>) -> Result<Release, Mistake> {
    let parsed = values.written(field.value).parse::<Release>();
    parsed.map_err(|error| {
        let message = format!("has a malformed `kubernetes-version`: {error}");
        values.mistake(field.value.span(), message)
    })
}

fn namespace(values: Values<'_>, field: Entry<'_>) -> Result<String, Mistake> {
    let name = values.string(field)?;
    if is_namespace_name(name) {
        return Ok(name.to_owned());
    }
    let message = format!("names a namespace `{name}` that cannot exist");
    let mistake = values.mistake(field.value.span(), message);
    Err(mistake.help(format!("a namespace has {NAMESPACE_NAME}")))
}

fn extra_kind(values: Values<'_>, value: Value<'_>) -> Result<ExtraKind, Mistake> {
    const SCOPES: [(&str, Scope); 2] = [
        ("Namespaced", Scope::Namespaced),
        ("Cluster", Scope::Cluster),
    ];
    let fields = values.fields(value, "an entry of `scopes`", SCOPE)?;
    let (mut group, mut kind, mut versions, mut scope) = (None, None, Vec::new(), None);
    for field in fields {
        match field.key {
            // The core group is the empty string.
            "group" => group = Some(field.value.as_str().unwrap_or_default().to_owned()),
            "kind" => kind = Some(values.string(field)?.to_owned()),
            "versions" => versions = values.strings(field)?,
            _ => scope = Some(values.word(field, &SCOPES)?),
        }
    }
    match (group, kind, scope) {
        (Some(group), Some(kind), Some(scope)) => Ok(ExtraKind {
            group,
            kind,
            versions,
            scope,
        }),
        _ => Err(values.mistake(
            start(value),
            "expects `group`, `kind` and `scope` for every entry of `scopes`",
        )),
    }
}

fn rule(values: Values<'_>, entry: Entry<'_>) -> Result<&'static Rule, Mistake> {
    rules::find(entry.key).ok_or_else(|| {
        let message = format!("names a rule `{}` that does not exist", entry.key);
        let mistake = values
            .mistake(entry.key_span, message)
            .label("no such rule");
        mistake.help(rules::suggestion(entry.key))
    })
}

fn ignore(values: Values<'_>, rule: &'static Rule, value: Value<'_>) -> Result<Ignore, Mistake> {
    let (mut object, mut reason, mut expires) = (None, None, None);
    for field in values.fields(value, &format!("an ignore of `{}`", rule.id), IGNORE)? {
        match field.key {
            "object" => {
                let pattern = ObjectPattern::new(values.string(field)?).map_err(|error| {
                    let message = format!("has a malformed pattern: {error}");
                    values.mistake(field.value.span(), message)
                })?;
                object = Some((pattern, field.value.span()));
            }
            "reason" => reason = Some(values.string(field)?.to_owned()),
            _ => {
                let date = values.written(field.value).parse::<Date>();
                expires = Some(date.map_err(|error| {
                    let message = format!("has a malformed `expires`: {error}");
                    values.mistake(field.value.span(), message)
                })?);
            }
        }
    }
    match (object, reason) {
        (Some((object, place)), Some(reason)) => Ok(Ignore {
            rule: rule.id,
            object,
            reason,
            expires,
            place,
        }),
        (None, _) => {
            let mistake = values.mistake(start(value), "has an ignore without an `object`");
            Err(mistake.help("name the objects: `object: Deployment.apps/shop/*`"))
        }
        (_, None) => {
            let mistake = values.mistake(start(value), "has an ignore without a `reason`");
            Err(mistake.help("say why the finding is acceptable here, or when it will be fixed"))
        }
    }
}

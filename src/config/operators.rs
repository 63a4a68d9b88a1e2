//! Rows that a configuration adds to the tables of operators. They count as verified, because users know their own
//! operators.

use super::Mistake;
use super::value::{Values, start};
use crate::knowledge::{
    Condition, DataFate, DataKind, FieldPath, Generator, KindPattern, NamePattern, NotAField,
    Owned, Product, Sources, Text,
};
use crate::kube::GroupKind;
use crate::yaml::{Entry, Value};

pub(super) const GENERATOR: &[&str] = &["kind", "product", "policy", "owns", "default"];
pub(super) const PRODUCT: &[&str] = &["kind", "name", "namespace"];
pub(super) const DATA: &[&str] = &["kind", "keep", "values"];

/// Reads `generators: [{kind, product: {kind, name}, policy, owns, default}]`.
pub(super) fn generators(values: Values<'_>, field: Entry<'_>) -> Result<Vec<Generator>, Mistake> {
    values
        .items(field)?
        .into_iter()
        .map(|entry| generator(values, entry))
        .collect()
}

/// Reads `data: [{kind, keep, values}]`.
pub(super) fn data(values: Values<'_>, field: Entry<'_>) -> Result<Vec<DataKind>, Mistake> {
    values
        .items(field)?
        .into_iter()
        .map(|entry| data_kind(values, entry))
        .collect()
}

fn generator(values: Values<'_>, value: Value<'_>) -> Result<Generator, Mistake> {
    let (mut kind, mut product, mut policy, mut owns, mut default) = (None, None, None, None, None);
    for field in values.fields(value, "an entry of `generators`", GENERATOR)? {
        match field.key {
            "kind" => kind = Some(kind_text(values, field)?),
            "product" => product = Some(self::product(values, field.value)?),
            "policy" => policy = Some((read(values, field, FieldPath::parse)?, field)),
            "owns" => owns = Some((values.words(field)?, field)),
            _ => default = Some((values.scalar(field)?, field)),
        }
    }
    let (Some(kind), Some(product)) = (kind, product) else {
        let expected = "expects `kind` and `product` for every entry of `generators`";
        let mistake = values.mistake(start(value), expected);
        return Err(mistake.help(
            "for example `{kind: Vault.example.com, product: {kind: Secret, name: spec.secret}}`",
        ));
    };
    let owned = match (policy, owns, default) {
        (None, None, None) => Owned::Always(true),
        (Some((field, _)), Some((values, _)), default) => Owned::When(Condition {
            default: default.map(|(default, _)| default),
            ..Condition::is(field, values)
        }),
        (Some((_, field)), None, _) => {
            let mistake = values.mistake(field.key_span, "has a `policy` without `owns`");
            return Err(mistake.help(
                "list the values of the field with which the product is deleted: `owns: [Owner]`",
            ));
        }
        (None, Some((_, field)), _) | (None, None, Some((_, field))) => {
            let message = format!("has `{}` without a `policy`", field.key);
            let mistake = values.mistake(field.key_span, message);
            return Err(mistake.help("name the field that decides: `policy: spec.creationPolicy`; without one, the product is always deleted with the object"));
        }
    };
    Ok(Generator {
        kinds: KindPattern::parse(kind),
        product,
        when: Vec::new(),
        owned,
        proven: true,
        note: String::new(),
        source: Sources::one(values.file.path()),
    })
}

fn product(values: Values<'_>, value: Value<'_>) -> Result<Product, Mistake> {
    let (mut kind, mut name, mut namespace) = (None, None, None);
    for field in values.fields(value, "`product`", PRODUCT)? {
        match field.key {
            "kind" => kind = Some(kind_text(values, field)?),
            "name" => name = Some(read(values, field, NamePattern::parse)?),
            _ => namespace = Some(read(values, field, FieldPath::parse)?),
        }
    }
    match (kind, name) {
        (Some(kind), Some(name)) => Ok(Product {
            kind: GroupKind::parse(kind).to_owned(),
            names: vec![name],
            namespace,
        }),
        _ => Err(values.mistake(start(value), "expects `kind` and `name` for a `product`")),
    }
}

fn data_kind(values: Values<'_>, value: Value<'_>) -> Result<DataKind, Mistake> {
    let (mut kind, mut keep, mut keeping) = (None, None, None);
    for field in values.fields(value, "an entry of `data`", DATA)? {
        match field.key {
            "kind" => kind = Some(kind_text(values, field)?),
            "keep" => keep = Some((read(values, field, FieldPath::parse)?, field)),
            _ => keeping = Some((values.words(field)?, field)),
        }
    }
    let Some(kind) = kind else {
        return Err(values.mistake(start(value), "expects a `kind` for every entry of `data`"));
    };
    let keep = match (keep, keeping) {
        (None, None) => Vec::new(),
        (Some((field, _)), Some((values, _))) => vec![Condition::is(field, values)],
        (Some((_, field)), None) => {
            let mistake = values.mistake(field.key_span, "has `keep` without `values`");
            return Err(
                mistake.help("list the values of the field that keep the data: `values: [Retain]`")
            );
        }
        (None, Some((_, field))) => {
            let mistake = values.mistake(field.key_span, "has `values` without `keep`");
            return Err(mistake.help("name the field that decides: `keep: spec.deletionPolicy`"));
        }
    };
    Ok(DataKind {
        kinds: KindPattern::parse(kind),
        lost: Text::from("its data"),
        when: Vec::new(),
        keep,
        default: DataFate::Lost,
        volumes: false,
        proven: true,
        note: String::new(),
        source: Sources::one(values.file.path()),
    })
}

/// Reads `Kind`, `Kind.group`, `*.group` or `*.*.group`.
pub(super) fn kind_text<'a>(values: Values<'a>, field: Entry<'a>) -> Result<&'a str, Mistake> {
    let text = values.string(field)?;
    let (kind, group) = text.split_once('.').unwrap_or((text, ""));
    let is_kind = kind == "*" && !group.is_empty()
        || kind.starts_with(|c: char| c.is_ascii_uppercase())
            && kind.chars().all(|c| c.is_ascii_alphanumeric());
    let is_group = group
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '*'));
    if is_kind && is_group {
        return Ok(text);
    }
    let message = format!("names `{text}`, which is not a kind");
    let mistake = values.mistake(field.value.span(), message);
    Err(mistake.help("write `Kind` or `Kind.group`, such as `Deployment.apps`, without a version"))
}

fn read<'a, T>(
    values: Values<'a>,
    field: Entry<'a>,
    parse: impl Fn(&str) -> Result<T, NotAField>,
) -> Result<T, Mistake> {
    parse(values.string(field)?).map_err(|error| {
        let message = format!("has a malformed `{}`", field.key);
        let mistake = values.mistake(field.value.span(), message);
        mistake.label("not a field").help(error.to_string())
    })
}

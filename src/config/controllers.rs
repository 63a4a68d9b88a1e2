//! `controllers:` the user's operators that remove finalizers. These facts count as verified, because users know their
//! own operators.

use super::Mistake;
use super::operators::kind_text;
use super::value::{Values, each, start};
use crate::knowledge::{Added, Controller, ImagePattern, KindPattern, OwnController, Sources};
use crate::kube::{GroupKind, ObjectKey, finalizers};
use crate::manifest::label_key_errors;
use crate::ownership::may_run_pods;
use crate::yaml::{Entry, Value};

pub(super) const CONTROLLER: &[&str] =
    &["name", "images", "workload", "finalizers", "kinds", "adds"];

const ADDS: [(&str, Added); 2] = [("run-time", Added::Always), ("written", Added::Written)];

/// Reads `controllers: [{name, images | workload, finalizers, kinds, adds}]`.
pub(super) fn controllers(
    values: Values<'_>,
    field: Entry<'_>,
) -> Result<Vec<OwnController>, Mistake> {
    let mut own = Vec::new();
    for entry in values.items(field)? {
        own.extend(controller(values, entry)?);
    }
    Ok(own)
}

fn controller(values: Values<'_>, value: Value<'_>) -> Result<Vec<OwnController>, Mistake> {
    let (mut name, mut removed, mut kinds, mut adds) =
        (None, Vec::new(), Vec::new(), Added::Written);
    let (mut images, mut workload) = (None, None);
    for field in values.fields(value, "an entry of `controllers`", CONTROLLER)? {
        match field.key {
            "name" => name = Some(values.string(field)?),
            "images" => images = Some((each(field, |item| image(values, item))?, field)),
            "workload" => workload = Some((self::workload(values, field)?, field)),
            "finalizers" => removed = each(field, |item| finalizer(values, item))?,
            "kinds" => kinds = each(field, |item| kind_text(values, item))?,
            _ => adds = values.word(field, &ADDS)?,
        }
    }
    let (Some(name), false, false) = (name, removed.is_empty(), kinds.is_empty()) else {
        let expected = "expects `name`, `finalizers` and `kinds` for every entry of `controllers`";
        return Err(values.mistake(start(value), expected));
    };
    let (images, workload) = match (images, workload) {
        (Some((images, _)), None) if !images.is_empty() => (images, None),
        (None, Some((workload, _))) => (Vec::new(), Some(workload)),
        (Some(_), Some((_, field))) => {
            let message = "has both `images` and `workload` for one controller";
            let mistake = values.mistake(field.key_span, message);
            return Err(mistake.help(
                "keep `workload` if the controller is always the same object, else `images`",
            ));
        }
        (_, None) => {
            let mistake = values.mistake(start(value), "does not say where a controller runs");
            let help = "write `images: [example.com/operator]` or `workload: Deployment.apps/NAMESPACE/NAME`";
            return Err(mistake.help(help));
        }
    };
    let controller = Controller {
        kinds: kinds.iter().map(|kind| KindPattern::parse(kind)).collect(),
        removed_by: name.into(),
        place: None,
        images: images.into(),
        program: None,
        workload,
        added: adds,
        when: Vec::new(),
        kinds_proven: true,
        images_proven: true,
        control_plane: false,
        way_out: None,
        note: String::new(),
        source: Sources::one(values.file.path()),
    };
    let own = removed.into_iter().map(|finalizer| OwnController {
        finalizer,
        controller: controller.clone(),
    });
    Ok(own.collect())
}

fn image(values: Values<'_>, item: Entry<'_>) -> Result<ImagePattern, Mistake> {
    let text = values.string(item)?;
    ImagePattern::of_reference(text).ok_or_else(|| {
        let mistake = values.mistake(item.value.span(), format!("names `{text}`, which is not an image"));
        mistake.help("write the image or the end of its path, such as `example/operator`; `*` is any part of a segment")
    })
}

fn workload(values: Values<'_>, item: Entry<'_>) -> Result<ObjectKey, Mistake> {
    let text = values.string(item)?;
    let form = "write its key: `Deployment.apps/NAMESPACE/NAME`";
    let key: ObjectKey = text.parse().map_err(|_| {
        let message = format!("names `{text}`, which is not the key of a workload");
        values.mistake(item.value.span(), message).help(form)
    })?;
    if may_run_pods(key.group_kind()) {
        return Ok(key);
    }
    let message = format!("names a workload that runs no Pods: `{text}`");
    let mut meant = ["apps", "batch", ""]
        .map(|group| GroupKind::new(group, key.kind()))
        .into_iter();
    let meant = meant.find(|meant| may_run_pods(*meant));
    let help = meant.map_or(form.to_owned(), |meant| format!("did you mean `{meant}`?"));
    Err(values.mistake(item.value.span(), message).help(help))
}

fn finalizer(values: Values<'_>, item: Entry<'_>) -> Result<String, Mistake> {
    let text = values.string(item)?;
    if label_key_errors(text).is_empty() && !finalizers::is_collectors(text) {
        return Ok(text.to_owned());
    }
    let message = format!("names `{text}`, which is not a controller's finalizer");
    let mistake = values.mistake(item.value.span(), message);
    Err(mistake.help("write the name as objects have it, such as `example.com/cleanup`"))
}

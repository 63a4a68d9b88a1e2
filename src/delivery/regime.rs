//! The tool that delivers an object, and the evidence for it.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::marks;
use super::protection::{Exempted, Removal, spared};
use super::rendering::Renderings;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kustomize::SourceTool;
use crate::manifest::{Labels, Metadata};
use crate::ownership::{DeliveryKind, DeliveryObject, Reach};
use crate::text::{FileId, Span};

/// A tool as the configuration names it: `delivery: flux`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, schemars::JsonSchema)]
#[schemars(rename = "tool", rename_all = "lowercase")]
pub enum DeliveryTool {
    /// Helm itself.
    Helm,
    /// Argo CD, whatever renders for it.
    ArgoCd,
    /// Flux: Kustomizations and HelmReleases.
    Flux,
    /// `kubectl apply`, which prunes nothing.
    Kubectl,
}

/// The bundles of an inventory, with the configured tool of each.
#[derive(Clone, Debug, Default)]
pub struct BundleTools {
    /// The bundle of each file; files without an entry are in the first bundle.
    bundles: HashMap<FileId, usize>,
    tools: Vec<Option<DeliveryTool>>,
}

impl BundleTools {
    /// Creates it from the tool of each bundle and the bundle of each file.
    pub fn of(tools: Vec<Option<DeliveryTool>>, bundles: HashMap<FileId, usize>) -> Self {
        Self { bundles, tools }
    }

    fn bundle(&self, file: FileId) -> usize {
        self.bundles.get(&file).copied().unwrap_or_default()
    }

    fn tool(&self, file: FileId) -> Option<DeliveryTool> {
        self.tools.get(self.bundle(file)).copied().flatten()
    }
}

impl From<Option<DeliveryTool>> for BundleTools {
    fn from(tool: Option<DeliveryTool>) -> Self {
        Self::of(vec![tool], HashMap::default())
    }
}

/// The kind of a delivery object of Flux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FluxObject {
    /// A `Kustomization.kustomize.toolkit.fluxcd.io`.
    Kustomization,
    /// A `HelmRelease.helm.toolkit.fluxcd.io`.
    HelmRelease,
}

/// The tool that applies an object, and thus deletes it when it is removed from the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regime {
    /// A Helm release.
    Helm,
    /// An Application of Argo CD.
    ArgoCd,
    /// Flux.
    Flux(FluxObject),
    /// `kubectl apply`: removed objects are not deleted.
    Kubectl,
}

impl From<SourceTool> for Regime {
    fn from(tool: SourceTool) -> Self {
        match tool {
            SourceTool::Flux => Self::Flux(FluxObject::Kustomization),
            SourceTool::FluxRelease => Self::Flux(FluxObject::HelmRelease),
            SourceTool::ArgoCd | SourceTool::ArgoCdSet => Self::ArgoCd,
        }
    }
}

impl Regime {
    /// Returns the removals by the tool: of single objects, and of everything at once.
    pub fn removals(self) -> &'static [Removal] {
        match self {
            Self::Helm | Self::Flux(FluxObject::HelmRelease) => {
                &[Removal::HelmUpgrade, Removal::HelmUninstall]
            }
            Self::ArgoCd => &[Removal::ArgoCdPrune, Removal::ArgoCdApplication],
            Self::Flux(FluxObject::Kustomization) => &[Removal::FluxPrune],
            Self::Kubectl => &[],
        }
    }

    /// Returns the regime of the objects that a delivery object of `kind` delivers.
    pub fn of(kind: DeliveryKind) -> Self {
        match kind {
            DeliveryKind::Application | DeliveryKind::ApplicationSet => Self::ArgoCd,
            DeliveryKind::Kustomization => Self::Flux(FluxObject::Kustomization),
            DeliveryKind::HelmRelease => Self::Flux(FluxObject::HelmRelease),
        }
    }

    /// Returns the name of the tool in sentences.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Helm => "Helm",
            Self::ArgoCd => "Argo CD",
            Self::Flux(_) => "Flux",
            Self::Kubectl => "kubectl",
        }
    }

    /// Returns the name of the tool in output formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Helm => "helm",
            Self::ArgoCd => "argocd",
            Self::Flux(_) => "flux",
            Self::Kubectl => "kubectl",
        }
    }

    /// Whether its objects belong to a release: Helm installs them, alone or for Flux.
    pub fn is_release(self) -> bool {
        matches!(self, Self::Helm | Self::Flux(FluxObject::HelmRelease))
    }

    /// Whether the tool reapplies its sources regularly, and so recreates missing objects.
    pub fn reconciles(self) -> bool {
        matches!(self, Self::ArgoCd | Self::Flux(FluxObject::Kustomization))
    }
}

impl DeliveryTool {
    /// Returns the regime of an object of the tool if nothing else is known about it.
    pub fn regime(self) -> Regime {
        match self {
            Self::Helm => Regime::Helm,
            Self::ArgoCd => Regime::ArgoCd,
            Self::Flux => Regime::Flux(FluxObject::Kustomization),
            Self::Kubectl => Regime::Kubectl,
        }
    }
}

/// The evidence for the regime of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegimeSource {
    /// `delivery:` of the bundle.
    Config,
    /// A delivery object of the input whose sources contain the object's file; the first of several that agree.
    Object(ObjectId),
    /// A label or annotation of the object, or of another one if all marked objects of the rendering or bundle agree.
    /// Without any, the comment with which Helm names the template of the object.
    Mark {
        /// The object that has it.
        object: ObjectId,
        /// The key, or the path of the template.
        place: Span,
    },
    /// There is no evidence.
    None,
}

/// The regime of an object, with the evidence for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The tool that delivers it.
    pub regime: Regime,
    /// The evidence.
    pub source: RegimeSource,
}

/// The regimes of marks: none, one on which all agree, or several.
#[derive(Clone, Copy, Debug, Default)]
enum Agreement {
    #[default]
    Silent,
    One(Delivered),
    Several,
}

impl Agreement {
    fn and(self, mark: Delivered) -> Self {
        match self {
            Self::Silent => Self::One(mark),
            Self::One(first) if first.regime == mark.regime => self,
            Self::One(_) | Self::Several => Self::Several,
        }
    }

    fn one(self) -> Option<Delivered> {
        match self {
            Self::One(delivered) => Some(delivered),
            Self::Silent | Self::Several => None,
        }
    }
}

/// A summary of the delivery objects that reach a file.
#[derive(Debug, Default)]
pub struct Deliverers {
    agreed: Agreement,
    /// Whether one of them deletes objects that leave its sources.
    pub prunes: bool,
    /// Whether one of them deletes the delivered objects when it is deleted itself.
    pub deletes: bool,
}

impl Deliverers {
    fn add(&mut self, object: &DeliveryObject) {
        let regime = Regime::of(object.kind);
        self.agreed = self.agreed.and(Delivered {
            regime,
            source: RegimeSource::Object(object.id),
        });
        self.prunes |= object.prunes && !object.suspended;
        self.deletes |= object.deletes();
    }
}

/// The tools that deliver the objects of an inventory.
///
/// The first of these decides: the configuration; the delivery objects that reach the object's file, if all are of one
/// tool; the object's own marks; the marks of its file or rendering; the comment that names its template, if the
/// rendering has no marks; the marks of the bundle, if all agree and most objects have them, because a single file may
/// be copied from a chart. Without any of them the tool is `kubectl apply`, which prunes nothing.
#[derive(Debug)]
pub struct Deliveries {
    configured: BundleTools,
    reached: BTreeMap<FileId, Deliverers>,
    own: HashMap<ObjectId, Delivered>,
    /// By file, or by the first file of a rendering.
    by_file: BTreeMap<FileId, Agreement>,
    by_bundle: BTreeMap<usize, Agreement>,
    renderings: Renderings,
}

impl Deliveries {
    /// Finds the tools of the objects of `inventory` by `configured` and by marks.
    pub fn of(inventory: &Inventory, configured: BundleTools) -> Self {
        let mut deliveries = Self {
            configured,
            reached: BTreeMap::new(),
            own: HashMap::default(),
            by_file: BTreeMap::new(),
            by_bundle: BTreeMap::new(),
            renderings: Renderings::of(inventory),
        };
        let mut objects: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for member in &inventory.members {
            let bundle = deliveries.bundle_of(member);
            let (all, with_marks) = objects.entry(bundle).or_default();
            *all += 1;
            let marked = marked(member.object.metadata(), || {
                deliveries.renderings.template(member).is_some()
            });
            let Some((regime, place)) = marked else {
                continue;
            };
            if regime == Regime::Helm && deliveries.renderings.is_copied(inventory, member.file) {
                continue;
            }
            *with_marks += 1;
            let delivered = Delivered {
                regime,
                source: RegimeSource::Mark {
                    object: member.id,
                    place,
                },
            };
            deliveries.own.insert(member.id, delivered);
            let rendering = deliveries.rendering(member);
            let of_file = deliveries.by_file.entry(rendering).or_default();
            *of_file = of_file.and(delivered);
            let of_bundle = deliveries.by_bundle.entry(bundle).or_default();
            *of_bundle = of_bundle.and(delivered);
        }
        deliveries.by_bundle.retain(|bundle, _| {
            let (all, with_marks) = objects[bundle];
            with_marks * 2 > all
        });
        deliveries
    }

    /// Adds the delivery objects of the input and the files that they reach.
    pub fn delivering(mut self, objects: &[DeliveryObject], reach: &Reach) -> Self {
        for (place, object) in objects.iter().enumerate() {
            for file in reach.files(place) {
                self.reached.entry(file).or_default().add(object);
            }
        }
        self
    }

    /// Returns a summary of the delivery objects that reach an object; `None` if none does.
    pub fn reached(&self, member: &Member) -> Option<&Deliverers> {
        self.reached.get(&member.file)
    }

    /// Returns the regime on which all delivery objects that reach an object agree.
    fn by_object(&self, member: &Member) -> Option<Delivered> {
        self.reached(member)?.agreed.one()
    }

    /// Returns the delivery object of an object, the first of several; `None` if there is none or if tools disagree.
    pub(super) fn deliverer(&self, member: &Member) -> Option<ObjectId> {
        match self.by_object(member)?.source {
            RegimeSource::Object(id) => Some(id),
            RegimeSource::Config | RegimeSource::Mark { .. } | RegimeSource::None => None,
        }
    }

    /// Returns the regime of an object.
    pub fn regime(&self, member: &Member) -> Delivered {
        let marked = self
            .by_object(member)
            .or_else(|| self.own.get(&member.id).copied())
            .or_else(|| match self.by_rendering(member) {
                Agreement::Silent => self.by_template(member),
                agreement => agreement.one(),
            })
            .or_else(|| self.by_bundle.get(&self.bundle_of(member))?.one());
        match self.configured.tool(member.file) {
            Some(tool) => {
                let regime = match (tool, marked) {
                    // Flux delivers output of Helm through a HelmRelease.
                    (DeliveryTool::Flux, Some(marked)) if marked.regime.is_release() => {
                        Regime::Flux(FluxObject::HelmRelease)
                    }
                    _ => tool.regime(),
                };
                Delivered {
                    regime,
                    source: RegimeSource::Config,
                }
            }
            None => marked.unwrap_or(Delivered {
                regime: Regime::Kubectl,
                source: RegimeSource::None,
            }),
        }
    }

    /// Returns the regime of an object if the configuration, a delivery object or its own marks
    /// show it. For output of Helm, marks of the rendering suffice: charts seldom label their CRDs.
    /// Marks of other files do not, because these may belong to an unknown kustomization, nor do
    /// templates without marks: projects publish such renderings for `kubectl apply`.
    pub fn evident(&self, member: &Member) -> Option<Regime> {
        let is_evident = self.is_configured(member)
            || self.by_object(member).is_some()
            || self.own.contains_key(&member.id)
            || (self.by_rendering(member).one().is_some()
                && self.renderings.template(member).is_some());
        is_evident.then(|| self.regime(member).regime)
    }

    /// Whether nothing shows the tool of an object but the comment that names its template. Helm installs it, unless the
    /// file is a rendering that its project publishes for `kubectl apply`.
    pub fn is_only_rendered(&self, member: &Member) -> bool {
        let is_unmarked = matches!(self.by_rendering(member), Agreement::Silent);
        is_unmarked
            && self.evident(member).is_none()
            && self.reached(member).is_none()
            && self.by_template(member).is_some()
    }

    pub(super) fn is_configured(&self, member: &Member) -> bool {
        self.configured.tool(member.file).is_some()
    }

    pub(super) fn bundle_of(&self, member: &Member) -> usize {
        self.configured.bundle(member.file)
    }

    /// Returns the path of the template that an object was rendered from, by the comment `# Source:` before it.
    pub fn template<'i>(&self, inventory: &'i Inventory, member: &Member) -> Option<&'i str> {
        let template = self.renderings.template(member)?;
        Some(inventory.sources.file(member.file).slice(template))
    }

    /// Returns the first file of an object's rendering: its own file, unless one release of Helm wrote several.
    pub(super) fn rendering(&self, member: &Member) -> FileId {
        self.renderings.first_file(member.file)
    }

    /// Returns the regimes that the marks in the rendering of an object show.
    fn by_rendering(&self, member: &Member) -> Agreement {
        let marked = self.by_file.get(&self.rendering(member));
        marked.copied().unwrap_or_default()
    }

    /// Returns Helm for an object that it rendered and that nothing else is known to install.
    fn by_template(&self, member: &Member) -> Option<Delivered> {
        let place = self.renderings.template(member)?;
        let object = member.id;
        self.renderings
            .is_installed(member.file)
            .then_some(Delivered {
                regime: Regime::Helm,
                source: RegimeSource::Mark { object, place },
            })
    }

    /// Returns why `removal` spares an object, if it does.
    pub fn spared<'a>(
        &self,
        inventory: &Inventory,
        member: &'a Member,
        removal: Removal,
    ) -> Option<Exempted<'a>> {
        spared(&member.object, self.template(inventory, member), removal)
    }
}

/// Returns the regime that an object's own labels and annotations show, and the place of the key.
///
/// The order is: marks that a tool writes onto its objects, marks of a chart, marks that users write for a tool, and
/// the annotation of a hook if Helm rendered the object: hooks are often copied into manifests that Helm never reads.
fn marked(metadata: Metadata<'_>, is_rendered: impl FnOnce() -> bool) -> Option<(Regime, Span)> {
    if !metadata.has_labels_or_annotations() {
        return None;
    }
    let kustomization = Regime::Flux(FluxObject::Kustomization);
    let release = Regime::Flux(FluxObject::HelmRelease);
    let (labels, annotations) = (metadata.labels(), metadata.annotations());
    mark(annotations, marks::ARGOCD_TRACKING_ID, Regime::ArgoCd)
        .or_else(|| mark(labels, marks::ARGOCD_INSTANCE, Regime::ArgoCd))
        .or_else(|| mark(labels, marks::FLUX_HELM_RELEASE_NAME, release))
        .or_else(|| mark(labels, marks::FLUX_KUSTOMIZATION_NAME, kustomization))
        .or_else(|| mark(annotations, marks::HELM_RELEASE_NAME, Regime::Helm))
        .or_else(|| chart_label(labels).map(|place| (Regime::Helm, place)))
        .or_else(|| {
            marks::ARGOCD_OPTIONS
                .into_iter()
                .find_map(|key| mark(annotations, key, Regime::ArgoCd))
        })
        .or_else(|| {
            marks::FLUX_OPTIONS.into_iter().find_map(|key| {
                mark(annotations, key, kustomization).or_else(|| mark(labels, key, kustomization))
            })
        })
        .or_else(|| mark(annotations, marks::HELM_HOOK, Regime::Helm).filter(|_| is_rendered()))
}

/// Returns `regime` and the place of `key`, a label or annotation that shows it; `None` if `key` is missing.
fn mark(labels: Labels<'_>, key: &str, regime: Regime) -> Option<(Regime, Span)> {
    Some((regime, labels.get(key)?.key_span))
}

/// Returns the place of `app.kubernetes.io/managed-by: Helm`, or of the older `heritage: Helm`, if
/// there is also a label with the chart: other tools hardly ever copy both labels.
fn chart_label(labels: Labels<'_>) -> Option<Span> {
    let pairs = [
        (marks::MANAGED_BY, marks::HELM_CHART),
        (marks::HERITAGE, marks::CHART),
    ];
    pairs.into_iter().find_map(|(tool, chart)| {
        let tool = labels
            .get(tool)
            .filter(|tool| tool.value.trim() == "Helm")?;
        labels.get(chart).map(|_| tool.key_span)
    })
}

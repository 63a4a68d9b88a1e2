//! By which tool an object is delivered, and how that is known.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::marks;
use super::protection::{Removal, Spared, spared};
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

/// The bundles that an inventory consists of, and the tool that the configuration says delivers each.
#[derive(Clone, Debug, Default)]
pub struct BundleTools {
    /// The bundle of a file; that of all others is the first.
    bundles: HashMap<FileId, usize>,
    tools: Vec<Option<DeliveryTool>>,
}

impl BundleTools {
    /// Several bundles, with the tool of each, and which of them a file belongs to.
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
        Self {
            bundles: HashMap::default(),
            tools: vec![tool],
        }
    }
}

/// The kind of Flux object that delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FluxObject {
    /// A `Kustomization.kustomize.toolkit.fluxcd.io`.
    Kustomization,
    /// A `HelmRelease.helm.toolkit.fluxcd.io`.
    HelmRelease,
}

/// Who applies an object, and so who deletes it when it leaves.
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
    /// The regime of the objects that a delivery object of that kind delivers.
    pub fn of(kind: DeliveryKind) -> Self {
        match kind {
            DeliveryKind::Application | DeliveryKind::ApplicationSet => Self::ArgoCd,
            DeliveryKind::Kustomization => Self::Flux(FluxObject::Kustomization),
            DeliveryKind::HelmRelease => Self::Flux(FluxObject::HelmRelease),
        }
    }

    /// The tool in a sentence.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Helm => "Helm",
            Self::ArgoCd => "Argo CD",
            Self::Flux(_) => "Flux",
            Self::Kubectl => "kubectl",
        }
    }

    /// The word of the contracts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Helm => "helm",
            Self::ArgoCd => "argocd",
            Self::Flux(_) => "flux",
            Self::Kubectl => "kubectl",
        }
    }

    /// Whether the object belongs to a release: Helm installs it, alone or for Flux.
    pub fn is_release(self) -> bool {
        matches!(self, Self::Helm | Self::Flux(FluxObject::HelmRelease))
    }

    /// Whether the tool applies its sources again and again, and so creates what is missing.
    pub fn reconciles(self) -> bool {
        matches!(self, Self::ArgoCd | Self::Flux(FluxObject::Kustomization))
    }
}

impl DeliveryTool {
    /// The regime of an object that the tool delivers, of which nothing else is known.
    pub fn regime(self) -> Regime {
        match self {
            Self::Helm => Regime::Helm,
            Self::ArgoCd => Regime::ArgoCd,
            Self::Flux => Regime::Flux(FluxObject::Kustomization),
            Self::Kubectl => Regime::Kubectl,
        }
    }
}

/// Where the regime of an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegimeSource {
    /// `delivery:` of the bundle.
    Config,
    /// A delivery object of the input whose sources contain the object's file; of several that agree the first.
    Object(ObjectId),
    /// A label or annotation of an object: its own, or that of another object where all agree. Where none has any, the
    /// comment with which Helm names the template of the object.
    Mark {
        /// The object that has it.
        object: ObjectId,
        /// The key, or the path of the template.
        place: Span,
    },
    /// There is no evidence.
    None,
}

/// The regime of an object, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Who delivers it.
    pub regime: Regime,
    /// How that is known.
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

/// The delivery objects that reach a file, summed up.
#[derive(Debug, Default)]
pub struct Deliverers {
    agreed: Agreement,
    /// One of them deletes what leaves its sources.
    pub prunes: bool,
    /// One of them deletes what it delivered when it is deleted itself.
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

/// Who delivers the objects of a bundle.
///
/// In this order: the configuration; the delivery objects that reach the object's file, if all are of one tool; the object's
/// own marks; the marks of its file or rendering; the comment that names its template, if the rendering has no marks;
/// the marks of the bundle, if all agree and most objects have them: one file that was copied from a chart says nothing
/// of the other files of a repository. Without any of them it is `kubectl apply`, and nothing is pruned.
#[derive(Debug)]
pub struct Deliveries {
    configured: BundleTools,
    reached: BTreeMap<FileId, Deliverers>,
    own: HashMap<ObjectId, Delivered>,
    /// By the first file of a rendering; every other file is alone.
    by_file: BTreeMap<FileId, Agreement>,
    by_bundle: BTreeMap<usize, Agreement>,
    renderings: Renderings,
}

impl Deliveries {
    /// Who delivers the objects of `inventory`; `configured` is what the configuration says.
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
            let (all, with_marks) = objects
                .entry(deliveries.configured.bundle(member.file))
                .or_default();
            *all += 1;
            let is_rendered = || deliveries.renderings.template(member).is_some();
            let Some((regime, place)) = marked(member.object.metadata(), is_rendered) else {
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
            let rendering = deliveries.renderings.first_file(member.file);
            let of_file = deliveries.by_file.entry(rendering).or_default();
            *of_file = of_file.and(delivered);
            let of_bundle = deliveries
                .by_bundle
                .entry(deliveries.configured.bundle(member.file))
                .or_default();
            *of_bundle = of_bundle.and(delivered);
        }
        let most_have = |bundle: &usize| {
            objects
                .get(bundle)
                .is_some_and(|(all, with_marks)| with_marks * 2 > *all)
        };
        deliveries.by_bundle.retain(|bundle, _| most_have(bundle));
        deliveries
    }

    /// Adds the delivery objects of the input, and what they reach.
    pub fn delivering(mut self, objects: &[DeliveryObject], reach: &Reach) -> Self {
        for (place, object) in objects.iter().enumerate() {
            for file in reach.files(place) {
                self.reached.entry(file).or_default().add(object);
            }
        }
        self
    }

    /// The delivery objects that reach an object; `None` if none does.
    pub fn reached(&self, member: &Member) -> Option<&Deliverers> {
        self.reached.get(&member.file)
    }

    /// The regime that all delivery objects that reach an object agree on.
    fn by_object(&self, member: &Member) -> Option<Delivered> {
        self.reached(member)
            .and_then(|reached| reached.agreed.one())
    }

    /// The object that delivers an object, of several the first; `None` if tools disagree.
    pub(super) fn deliverer(&self, member: &Member) -> Option<ObjectId> {
        match self.by_object(member)?.source {
            RegimeSource::Object(id) => Some(id),
            RegimeSource::Config | RegimeSource::Mark { .. } | RegimeSource::None => None,
        }
    }

    /// Who delivers an object.
    pub fn regime(&self, member: &Member) -> Delivered {
        let of_bundle = || {
            self.by_bundle
                .get(&self.bundle_of(member))
                .copied()
                .unwrap_or_default()
                .one()
        };
        let marked = self
            .by_object(member)
            .or_else(|| self.own.get(&member.id).copied())
            .or_else(|| match self.by_rendering(member) {
                Agreement::Silent => self.by_template(member),
                agreement => agreement.one(),
            })
            .or_else(of_bundle);
        match self.configured.tool(member.file) {
            Some(tool) => {
                let regime = match (tool, marked.map(|delivered| delivered.regime)) {
                    (DeliveryTool::Helm, _) => Regime::Helm,
                    (DeliveryTool::ArgoCd, _) => Regime::ArgoCd,
                    (DeliveryTool::Kubectl, _) => Regime::Kubectl,
                    // Flux delivers output of Helm through a HelmRelease.
                    (DeliveryTool::Flux, Some(regime)) if regime.is_release() => {
                        Regime::Flux(FluxObject::HelmRelease)
                    }
                    (DeliveryTool::Flux, _) => Regime::Flux(FluxObject::Kustomization),
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

    /// The regime of an object as far as the configuration, a delivery object or its own marks show it or, for output of
    /// Helm, the marks of its rendering: charts seldom label their CRDs. A file without templates may be part of an unknown
    /// kustomization, and projects publish renderings without marks for `kubectl apply`.
    pub fn evident(&self, member: &Member) -> Option<Regime> {
        let is_rendered = || {
            self.by_rendering(member).one().is_some() && self.renderings.template(member).is_some()
        };
        let said = self.is_configured(member)
            || self.by_object(member).is_some()
            || self.own.contains_key(&member.id)
            || is_rendered();
        said.then(|| self.regime(member).regime)
    }

    /// Whether the configuration says which tool delivers an object.
    pub(super) fn is_configured(&self, member: &Member) -> bool {
        self.configured.tool(member.file).is_some()
    }

    /// The bundle that an object belongs to.
    pub(super) fn bundle_of(&self, member: &Member) -> usize {
        self.configured.bundle(member.file)
    }

    /// The path of the template that an object was rendered from, as a comment `# Source:` before it says.
    pub fn template<'i>(&self, inventory: &'i Inventory, member: &Member) -> Option<&'i str> {
        let template = self.renderings.template(member)?;
        Some(inventory.sources.file(member.file).slice(template))
    }

    /// The first file of the rendering that an object is part of: its own file, unless one release of Helm wrote several.
    pub(super) fn rendering(&self, member: &Member) -> FileId {
        self.renderings.first_file(member.file)
    }

    /// The tools of which the marks in the rendering of an object speak.
    fn by_rendering(&self, member: &Member) -> Agreement {
        let marked = self.by_file.get(&self.rendering(member));
        marked.copied().unwrap_or_default()
    }

    /// Helm, of an object that it rendered and that nothing else is known to install.
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

    /// Whether `removal` spares an object, and why.
    pub fn spared<'a>(
        &self,
        inventory: &Inventory,
        member: &'a Member,
        removal: Removal,
    ) -> Option<Spared<'a>> {
        spared(&member.object, self.template(inventory, member), removal)
    }
}

/// The regime that an object's own labels and annotations speak of, and the key that does.
///
/// Marks that a tool writes onto its objects come first; then those of a chart; then those that users write for a tool; and
/// at last the annotation of a hook, if Helm rendered the object: people copy hooks into manifests that Helm never sees.
fn marked(metadata: Metadata<'_>, is_rendered: impl FnOnce() -> bool) -> Option<(Regime, Span)> {
    if !metadata.is_marked() {
        return None;
    }
    let kustomization = Regime::Flux(FluxObject::Kustomization);
    let release = Regime::Flux(FluxObject::HelmRelease);
    let (labels, annotations) = (metadata.labels(), metadata.annotations());
    let annotated = |key, regime| annotations.get(key).map(|value| (regime, value.key_span));
    let labelled = |key, regime| labels.get(key).map(|value| (regime, value.key_span));
    annotated(marks::ARGOCD_TRACKING_ID, Regime::ArgoCd)
        .or_else(|| labelled(marks::ARGOCD_INSTANCE, Regime::ArgoCd))
        .or_else(|| labelled(marks::FLUX_HELM_RELEASE_NAME, release))
        .or_else(|| labelled(marks::FLUX_KUSTOMIZATION_NAME, kustomization))
        .or_else(|| annotated(marks::HELM_RELEASE_NAME, Regime::Helm))
        .or_else(|| chart_label(labels).map(|place| (Regime::Helm, place)))
        .or_else(|| {
            marks::ARGOCD_OPTIONS
                .into_iter()
                .find_map(|key| annotated(key, Regime::ArgoCd))
        })
        .or_else(|| {
            marks::FLUX_OPTIONS.into_iter().find_map(|key| {
                annotated(key, kustomization).or_else(|| labelled(key, kustomization))
            })
        })
        .or_else(|| annotated(marks::HELM_HOOK, Regime::Helm).filter(|_| is_rendered()))
}

/// `app.kubernetes.io/managed-by: Helm` beside the chart, or `heritage: Helm` as charts wrote before: other tools copy the one,
/// hardly both.
fn chart_label(labels: Labels<'_>) -> Option<Span> {
    let written = |tool: &str, chart: &str| {
        let tool = labels
            .get(tool)
            .filter(|value| value.value.trim() == "Helm")?;
        labels.get(chart).map(|_| tool.key_span)
    };
    written(marks::MANAGED_BY, marks::HELM_CHART).or_else(|| written(marks::HERITAGE, marks::CHART))
}

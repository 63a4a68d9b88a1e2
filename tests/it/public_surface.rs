//! What the crate promises to those who use it as a library: every public item that the documentation shows, as a snapshot. A
//! change of it is a change of the library's contract, and belongs into CHANGELOG.md.
//!
//! `cargo public-api` prints such a list too, but needs a nightly compiler. This one reads the sources with `syn` and follows
//! re-exports to where a thing is defined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, Type, UseTree, Visibility};

use crate::house::source::{Modules, Names, Target};
use crate::support::root;

/// Where something is defined, and its name there.
type Definition = (Names, String);

/// One documented item and what belongs to it.
struct Entry {
    /// From the root of the crate: `error::SessionError`.
    path: String,
    /// How it begins, on one line.
    head: String,
    /// Fields, variants, functions and implementations.
    members: Vec<Member>,
}

/// A line below an item.
struct Member {
    text: String,
    /// What an implementation needs of this crate to be of use to others.
    needs: Vec<Definition>,
}

impl From<String> for Member {
    fn from(text: String) -> Self {
        Self {
            text,
            needs: Vec::new(),
        }
    }
}

/// A crate whose public items are listed.
struct Reader {
    modules: Modules,
    /// The items of each file, and the module that it is.
    files: BTreeMap<String, (Names, Vec<Item>)>,
    entries: Vec<Entry>,
    /// Each item with its path: by the first one if it has several.
    listed: BTreeMap<Definition, String>,
    /// The definitions that a signature names, with the signature.
    named: BTreeMap<Definition, String>,
}

impl Reader {
    fn read(src: &Path) -> Self {
        let modules = Modules::read(src);
        let mut files = BTreeMap::new();
        // The module of a file comes before those inside of it.
        for (path, module) in modules.iter() {
            files.entry(module.file.clone()).or_insert_with(|| {
                let text =
                    std::fs::read_to_string(src.join(&module.file)).expect("it was read before");
                (
                    path.clone(),
                    syn::parse_file(&text).expect("it was read before").items,
                )
            });
        }
        let (entries, listed, named) = Default::default();
        let mut reader = Self {
            modules,
            files,
            entries,
            listed,
            named,
        };
        let (_, items) = reader.files["lib.rs"].clone();
        reader.module(&Names::new(), &items);
        reader.entries.sort_by(|a, b| a.path.cmp(&b.path));
        reader
    }

    /// Lists what a module shows.
    fn module(&mut self, at: &Names, items: &[Item]) {
        for item in items.iter().filter(|item| shown(attributes(item))) {
            match item {
                Item::Use(item) if is_public(&item.vis) => {
                    for path in leaves(&item.tree) {
                        self.re_export(at, &path);
                    }
                }
                Item::Mod(item) if is_public(&item.vis) => {
                    let inside = [&at[..], &[item.ident.to_string()]].concat();
                    let items = match &item.content {
                        Some((_, items)) => items.clone(),
                        None => self.items_of(&inside),
                    };
                    self.module(&inside, &items);
                }
                _ => self.item(at, at, item),
            }
        }
    }

    /// The items of a module that has a file of its own.
    fn items_of(&self, module: &Names) -> Vec<Item> {
        let file = self.modules.file(&Target::Module(module.clone()));
        self.files[file].1.clone()
    }

    fn re_export(&mut self, at: &Names, path: &Names) {
        let target = self.modules.target(at, path);
        let Some(Target::Item(module)) = target else {
            panic!("`{}` is no item", path.join("::"))
        };
        let name = path.last().expect("a path has a name");
        let items = self.items_of(&module);
        let item = items
            .iter()
            .find(|item| named(item).is_some_and(|(_, ident)| ident == *name));
        self.item(
            at,
            &module,
            item.unwrap_or_else(|| panic!("no `{name}` in {}", module.join("::"))),
        );
    }

    /// Lists an item of `module` that is seen in the module `at`.
    fn item(&mut self, at: &Names, module: &Names, item: &Item) {
        let Some((visibility, name)) = named(item) else {
            return;
        };
        let definition = (module.clone(), name.clone());
        let path = [&at[..], &[name]].concat().join("::");
        if !is_public(visibility)
            || !shown(attributes(item))
            || self.listed.contains_key(&definition)
        {
            return;
        }
        self.listed.insert(definition.clone(), path.clone());
        let mut members = Vec::new();
        let head = match item {
            Item::Struct(item) => {
                members.extend(
                    self.fields(module, &item.fields, true)
                        .into_iter()
                        .map(Member::from),
                );
                let (name, generics) = (&item.ident, source(&item.generics));
                format!("struct {name}{generics}")
            }
            Item::Enum(item) => {
                for variant in item.variants.iter().filter(|variant| shown(&variant.attrs)) {
                    let fields = self.fields(module, &variant.fields, false);
                    let fields = if fields.is_empty() {
                        String::new()
                    } else {
                        format!(" {{ {} }}", fields.join(", "))
                    };
                    members.push(format!("{}{fields}", variant.ident).into());
                }
                format!("enum {}{}", item.ident, source(&item.generics))
            }
            Item::Fn(item) => {
                self.note(module, &item.sig);
                source(&item.sig)
            }
            Item::Const(item) => format!("const {}: {}", item.ident, source(&*item.ty)),
            Item::Trait(item) => {
                members.extend(item.items.iter().map(source).map(Member::from));
                format!("trait {}", item.ident)
            }
            other => source(other),
        };
        let marks = marks(attributes(item));
        self.implementations(&definition, &mut members);
        self.entries.push(Entry {
            path,
            head: head + &marks,
            members,
        });
    }

    fn fields(&mut self, module: &Names, fields: &Fields, each_visible: bool) -> Vec<String> {
        let mut texts = Vec::new();
        for field in fields
            .iter()
            .filter(|field| shown(&field.attrs) && (!each_visible || is_public(&field.vis)))
        {
            let name = field
                .ident
                .as_ref()
                .map_or(String::new(), |name| format!("{name}: "));
            let text = name + &source(&field.ty);
            self.named_in(module, &text, |names| names.visit_type(&field.ty));
            texts.push(text);
        }
        texts
    }

    /// What blocks of `impl`, wherever they stand, add to an item.
    fn implementations(&mut self, definition: &Definition, members: &mut Vec<Member>) {
        let mut blocks: Vec<(Names, ItemImpl)> = Vec::new();
        for (module, items) in self.files.values() {
            let all = items.iter().filter_map(|item| {
                if let Item::Impl(block) = item {
                    Some(block)
                } else {
                    None
                }
            });
            let about =
                all.filter(|block| self.is_about(module, block, definition) && shown(&block.attrs));
            blocks.extend(about.map(|block| (module.clone(), block.clone())));
        }
        for (module, block) in blocks {
            if let Some((of, _)) = &block.trait_ {
                let needs = self.definitions(&module, |paths| paths.visit_path(of));
                members.push(Member {
                    text: format!("impl {}", source(of)),
                    needs,
                });
                continue;
            }
            for item in block.items {
                match item {
                    ImplItem::Fn(item) if is_public(&item.vis) && shown(&item.attrs) => {
                        self.note(&module, &item.sig);
                        members.push(source(&item.sig).into());
                    }
                    ImplItem::Const(item) if is_public(&item.vis) && shown(&item.attrs) => {
                        members.push(format!("const {}: {}", item.ident, source(&item.ty)).into());
                    }
                    _ => {}
                }
            }
        }
    }

    fn is_about(&self, module: &Names, block: &ItemImpl, (defined_in, name): &Definition) -> bool {
        let Type::Path(path) = &*block.self_ty else {
            return false;
        };
        let names: Names = path
            .path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        names.last() == Some(name)
            && self
                .modules
                .target(module, &names)
                .is_some_and(|target| target == Target::Item(defined_in.clone()))
    }

    fn note(&mut self, module: &Names, signature: &syn::Signature) {
        self.named_in(module, &source(signature), |names| {
            names.visit_signature(signature)
        });
    }

    /// Remembers what of this crate a signature names.
    fn named_in(&mut self, module: &Names, signature: &str, visit: impl FnOnce(&mut Paths)) {
        for definition in self.definitions(module, visit) {
            self.named
                .entry(definition)
                .or_insert_with(|| signature.to_owned());
        }
    }

    /// What of this crate a node names.
    fn definitions(&self, module: &Names, visit: impl FnOnce(&mut Paths)) -> Vec<Definition> {
        let mut paths = Paths::default();
        visit(&mut paths);
        let named = paths.0.iter().filter_map(|path| {
            let name = path.last().filter(|name| *name != "Self")?;
            match self.modules.target(module, path)? {
                Target::Item(at) => Some((at, name.clone())),
                Target::Module(_) => None,
            }
        });
        named.collect()
    }

    /// What signatures name and the list does not show: a reader could not look it up.
    fn missing(&self) -> Vec<String> {
        let missing = self
            .named
            .iter()
            .filter(|(definition, _)| !self.listed.contains_key(*definition));
        missing
            .map(|((module, name), signature)| {
                format!("{}::{name}, in `{signature}`", module.join("::"))
            })
            .collect()
    }

    fn list(&self) -> String {
        let mut text = String::new();
        for Entry {
            path,
            head,
            members,
        } in &self.entries
        {
            text.push_str(&format!("{path}: {head}\n"));
            let of_use = |member: &&Member| {
                member
                    .needs
                    .iter()
                    .all(|definition| self.listed.contains_key(definition))
            };
            members
                .iter()
                .filter(of_use)
                .for_each(|member| text.push_str(&format!("    {}\n", member.text)));
        }
        text
    }
}

/// The paths that a signature names.
#[derive(Default)]
struct Paths(BTreeSet<Names>);

impl<'a> Visit<'a> for Paths {
    fn visit_path(&mut self, path: &'a syn::Path) {
        self.0.insert(
            path.segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect(),
        );
        syn::visit::visit_path(self, path);
    }
}

/// The text of a node, on one line.
fn source(node: &impl Spanned) -> String {
    let text = node.span().source_text().unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // A signature that rustfmt broke into lines.
    text.replace("( ", "(")
        .replace(", )", ")")
        .replace(" )", ")")
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether the documentation shows it.
fn shown(attributes: &[Attribute]) -> bool {
    let says = |attribute: &Attribute, name: &str, word: &str| {
        attribute.path().is_ident(name)
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|ident| ident == word)
    };
    !attributes
        .iter()
        .any(|attribute| says(attribute, "doc", "hidden") || says(attribute, "cfg", "test"))
}

/// What the attributes of a type say to its users.
fn marks(attributes: &[Attribute]) -> String {
    let texts = attributes.iter().map(source);
    let marks =
        texts.filter(|text| text.starts_with("#[derive") || text.starts_with("#[non_exhaustive"));
    marks.map(|mark| format!(" {mark}")).collect()
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn named(item: &Item) -> Option<(&Visibility, String)> {
    let (visibility, name) = match item {
        Item::Const(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Static(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    Some((visibility, name.to_string()))
}

/// The paths of a `use` without globs and other names, which a list of what is promised has no need of.
fn leaves(tree: &UseTree) -> Vec<Names> {
    let mut leaves = Vec::new();
    let mut pending = vec![(Names::new(), tree)];
    while let Some((mut path, tree)) = pending.pop() {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                pending.push((path, &tree.tree));
            }
            UseTree::Group(group) => {
                pending.extend(group.items.iter().map(|tree| (path.clone(), tree)))
            }
            UseTree::Name(tree) => {
                path.push(tree.ident.to_string());
                leaves.push(path);
            }
            UseTree::Rename(_) | UseTree::Glob(_) => {
                panic!(
                    "`{}` is re-exported under no name of its own",
                    path.join("::")
                )
            }
        }
    }
    leaves
}

/// The list of our own public items, and what it lacks.
fn ours() -> &'static (String, Vec<String>) {
    static OURS: LazyLock<(String, Vec<String>)> = LazyLock::new(|| {
        let reader = Reader::read(&root().join("src"));
        (reader.list(), reader.missing())
    });
    &OURS
}

#[test]
fn the_public_surface_is_what_was_promised() {
    insta::assert_snapshot!(ours().0);
}

#[test]
fn whatever_a_public_signature_names_is_public_too() {
    assert_eq!(ours().1, [""; 0]);
}

/// A crate of these files.
fn crate_of(files: &[(&str, &str)]) -> Reader {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in files {
        let file = folder.path().join(file);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
    Reader::read(folder.path())
}

#[test]
fn a_re_export_is_listed_with_what_its_file_and_others_add() {
    let reader = crate_of(&[
        (
            "lib.rs",
            "pub use hall::Carpet; #[doc(hidden)] pub mod hall;",
        ),
        (
            "hall/mod.rs",
            "mod carpet; mod sweep; pub use carpet::Carpet; pub fn hidden() {}",
        ),
        (
            "hall/carpet.rs",
            "#[derive(Debug)] pub struct Carpet { pub width: u32, pub(crate) dust: u8, #[doc(hidden)] pub age: u8 }",
        ),
        (
            "hall/sweep.rs",
            "use super::Carpet; impl Carpet { pub fn sweep(&mut self) -> u8 { 0 } fn shake(&self) {} } impl Drop for Carpet {}",
        ),
    ]);
    assert_eq!(
        reader.list(),
        "Carpet: struct Carpet #[derive(Debug)]\n    width: u32\n    fn sweep(&mut self) -> u8\n    impl Drop\n"
    );
}

#[test]
fn a_signature_that_names_what_is_hidden_is_found() {
    let reader = crate_of(&[
        (
            "lib.rs",
            "pub use hall::Carpet; #[doc(hidden)] pub mod hall;",
        ),
        (
            "hall.rs",
            "pub struct Dust; pub struct Carpet; impl Carpet { pub fn dust(&self) -> Option<Dust> { None } }",
        ),
    ]);
    assert_eq!(
        reader.missing(),
        ["hall::Dust, in `fn dust(&self) -> Option<Dust>`"]
    );
}

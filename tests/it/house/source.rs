//! What each file of `src/` defines and names, as the compiler would resolve it: through `use`, re-exports and globs, in
//! types, in expressions and inside of macro calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

/// A path as it is written or from the root of the crate, without `::`.
pub(crate) type Names = Vec<String>;

/// All modules of a crate, by their paths from its root.
pub(crate) struct Modules(BTreeMap<Names, Module>);

#[derive(Default)]
pub(crate) struct Module {
    /// Its file below the source folder, with forward slashes.
    pub(crate) file: String,
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    /// Every path with two names and more.
    paths: Vec<Names>,
    /// Every name that stands alone or first.
    mentioned: BTreeSet<String>,
}

#[derive(Clone)]
struct Import {
    path: Names,
    /// What it is called here; `None` for a glob.
    name: Option<String>,
    /// Whether it is there for other modules.
    re_export: bool,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a module as a whole.
    Module(Names),
    /// To something that is defined in this module.
    Item(Names),
}

/// What a module refers to.
pub(super) struct Reference {
    /// As it is written.
    pub(super) path: String,
    pub(super) target: Target,
    /// Whether it only hands on what others define.
    pub(super) re_export: bool,
}

impl Modules {
    /// Reads the crate whose sources are in `folder`.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut modules = Self(BTreeMap::new());
        let mut pending = vec![(Names::new(), "lib.rs".to_owned())];
        while let Some((path, file)) = pending.pop() {
            let text = std::fs::read_to_string(folder.join(&file))
                .unwrap_or_else(|error| panic!("{file}: {error}"));
            let items = syn::parse_file(&text)
                .unwrap_or_else(|error| panic!("{file}: {error}"))
                .items;
            for child in modules.add(path.clone(), &file, &items) {
                let stem = child.join("/");
                let candidates = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
                let found = candidates
                    .into_iter()
                    .find(|file| folder.join(file).exists());
                pending.push((child, found.unwrap_or_else(|| panic!("no file for {stem}"))));
            }
        }
        modules
    }

    /// Adds a module and those that are written inside of it; the modules with files of their own are returned.
    fn add(&mut self, path: Names, file: &str, items: &[Item]) -> Vec<Names> {
        let mut reader = Reader {
            module: Module {
                file: file.to_owned(),
                ..Module::default()
            },
            ..Reader::default()
        };
        items.iter().for_each(|item| reader.define(item));
        items.iter().for_each(|item| reader.visit_item(item));
        self.0.insert(path.clone(), reader.module);
        let mut elsewhere = Vec::new();
        for module in reader.modules {
            let path = [path.clone(), vec![module.ident.to_string()]].concat();
            match &module.content {
                Some((_, items)) => elsewhere.extend(self.add(path, file, items)),
                None => elsewhere.push(path),
            }
        }
        elsewhere
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Names, &Module)> {
        self.0.iter()
    }

    /// The file that holds what a path leads to.
    pub(crate) fn file(&self, target: &Target) -> &str {
        let (Target::Module(path) | Target::Item(path)) = target;
        &self.0[path].file
    }

    /// Everything that a module refers to inside of the crate.
    pub(super) fn references(&self, path: &Names, module: &Module) -> Vec<Reference> {
        let mut references = Vec::new();
        let mut add = |written: &Names, re_export| {
            let target = self.resolve(path, written, 0);
            references.extend(target.map(|target| Reference {
                path: written.join("::"),
                target,
                re_export,
            }));
        };
        module.paths.iter().for_each(|written| add(written, false));
        for import in &module.imports {
            match &import.name {
                Some(name) => add(
                    &import.path,
                    import.re_export && !module.mentioned.contains(name),
                ),
                None => add(&import.path, true),
            }
        }
        // What comes through a glob shows where it is used.
        let keyword = |name: &str| matches!(name, "crate" | "self" | "super");
        let named = |name: &String| {
            keyword(name)
                || module
                    .imports
                    .iter()
                    .any(|import| import.name.as_ref() == Some(name))
        };
        for name in module.mentioned.iter().filter(|name| !named(name)) {
            add(&vec![name.clone()], false);
        }
        references
    }

    /// What a path that stands in `module` leads to; `None` where it leads out of the crate or is a name of the language.
    pub(crate) fn target(&self, module: &Names, path: &[String]) -> Option<Target> {
        self.resolve(module, path, 0)
    }

    /// Follows a path that stands in `module`; `None` where it leads out of the crate or is a name of the language.
    fn resolve(&self, module: &Names, path: &[String], depth: usize) -> Option<Target> {
        let mut at = module.clone();
        let mut rest = path;
        // `use a::b as b;` in two modules that import each other.
        if depth > 16 {
            return None;
        }
        while let Some((name, after)) = rest.split_first() {
            match name.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ => break,
            }
            rest = after;
        }
        while let Some((name, after)) = rest.split_first() {
            let child = [at.clone(), vec![name.clone()]].concat();
            let module = &self.0[&at];
            let import = module
                .imports
                .iter()
                .find(|import| import.name.as_ref() == Some(name));
            // A function may be called as its module.
            if self.0.contains_key(&child) && (import.is_none() || !after.is_empty()) {
                at = child;
                rest = after;
            } else if let Some(import) = import {
                let path = [&import.path, after].concat();
                return self.resolve(&at, &path, depth + 1);
            } else if module.defined.contains(name) {
                return Some(Target::Item(at));
            } else {
                let globs = module.imports.iter().filter(|import| import.name.is_none());
                let mut found = globs.filter_map(|glob| {
                    let path = [&glob.path, rest].concat();
                    self.resolve(&at, &path, depth + 1)
                });
                return found.next();
            }
        }
        Some(Target::Module(at))
    }
}

/// Collects what one module says.
#[derive(Default)]
struct Reader<'a> {
    module: Module,
    modules: Vec<&'a ItemMod>,
}

impl Reader<'_> {
    fn define(&mut self, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::TraitAlias(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            Item::Macro(item) => match &item.ident {
                Some(name) => name,
                None => return,
            },
            _ => return,
        };
        self.module.defined.insert(name.to_string());
    }

    fn import(&mut self, tree: &UseTree, re_export: bool) {
        let mut pending = vec![(Names::new(), tree)];
        while let Some((mut path, tree)) = pending.pop() {
            let (name, last) = match tree {
                UseTree::Path(tree) => {
                    path.push(tree.ident.to_string());
                    pending.push((path, &tree.tree));
                    continue;
                }
                UseTree::Group(group) => {
                    pending.extend(group.items.iter().map(|tree| (path.clone(), tree)));
                    continue;
                }
                UseTree::Name(tree) if tree.ident == "self" => (path.last().cloned(), None),
                UseTree::Name(tree) => (Some(tree.ident.to_string()), Some(&tree.ident)),
                UseTree::Rename(tree) => (Some(tree.rename.to_string()), Some(&tree.ident)),
                UseTree::Glob(_) => (None, None),
            };
            path.extend(last.filter(|last| *last != "self").map(ToString::to_string));
            self.module.imports.push(Import {
                path,
                name,
                re_export,
            });
        }
    }

    fn path(&mut self, path: Names) {
        self.module.mentioned.extend(path.first().cloned());
        if path.len() > 1 {
            self.module.paths.push(path);
        }
    }

    /// Paths between the tokens of a macro call.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut pending = vec![tokens];
        while let Some(tokens) = pending.pop() {
            let (mut path, mut colons) = (Names::new(), 0);
            for token in tokens {
                match token {
                    TokenTree::Ident(name) if colons == 2 => path.push(name.to_string()),
                    TokenTree::Ident(name) => {
                        let ended = std::mem::replace(&mut path, vec![name.to_string()]);
                        self.path(ended);
                    }
                    TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                        colons += 1;
                        continue;
                    }
                    TokenTree::Group(group) => pending.push(group.stream()),
                    _ => self.path(std::mem::take(&mut path)),
                }
                colons = 0;
            }
            self.path(path);
        }
    }
}

impl<'a> Visit<'a> for Reader<'a> {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.import(&item.tree, !matches!(item.vis, Visibility::Inherited));
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        self.modules.push(item);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.path(
            path.segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect(),
        );
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    fn visit_vis_restricted(&mut self, _: &'a syn::VisRestricted) {}
}

//! The commands `explain`, `rules` and `schema`.

use clap::{Args, ValueEnum};

use super::error::Error;
use super::global_args::GlobalArgs;
use super::known::{known, rule_ids};
use super::learn::file_of;
use super::output::{TextOrJson, display};
use super::status::Status;
use super::terminal;
use crate::engine::{self, SessionError, UnknownRule};
use crate::gc;
use crate::knowledge::{FinalizerName, KindPattern, Operator};
use crate::report::{self, RuleInfo};
use crate::rules::{self, RULES};

#[derive(Clone, Debug, Args)]
pub(super) struct ExplainArgs {
    /// A rule, a citation in a plan (`GC-22`), or a kind or finalizer in a finding
    /// (`ExternalSecret.external-secrets.io`); without it, all rules are listed
    #[arg(value_name = "RULE", value_parser = known::<String>(rule_ids), hide_possible_values = true)]
    pub(super) rule: Option<String>,
    /// With a finalizer: the kind of the objects that have it (`Volume.longhorn.io`)
    #[arg(value_name = "KIND")]
    pub(super) kind: Option<KindPattern>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub(super) output: PageFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PageFormat {
    #[value(alias = "text")]
    Human,
    Markdown,
    Json,
}

#[derive(Clone, Debug, Args)]
pub(super) struct RulesArgs {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub(super) output: TextOrJson,
}

#[derive(Clone, Debug, Args)]
pub(super) struct SchemaArgs {
    /// The document
    #[arg(value_name = "NAME", value_parser = known::<String>(schemas))]
    pub(super) name: String,
}

pub(super) fn explain(args: &ExplainArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let Some(id) = &args.rule else {
        return rules(match args.output {
            PageFormat::Human | PageFormat::Markdown => TextOrJson::Human,
            PageFormat::Json => TextOrJson::Json,
        });
    };
    if let Some(says) = gc::semantics(&id.to_uppercase()) {
        // A rule of Kubernetes that a plan cites is one sentence, in any format.
        terminal::print(&format!("{says}\n"))?;
        return Ok(Status::Clean);
    }
    let Some(rule) = rules::find(id) else {
        return rows(id, args, global);
    };
    if let Some(kind) = &args.kind {
        return Err(Error::KindOfRule {
            rule: id.clone(),
            kind: kind.to_string(),
        });
    }
    let described = engine::describe(rule);
    let text = match args.output {
        PageFormat::Human => report::page_human(&described, &display(global, true).human),
        PageFormat::Markdown => {
            let RuleInfo {
                page,
                severity,
                consequence,
                url,
                ..
            } = described.info;
            format!(
                "{page}\n---\n{} · {} · {url}\n",
                severity.as_str(),
                consequence.as_str()
            )
        }
        PageFormat::Json => report::rules_json(&[described]),
    };
    terminal::print(&text)?;
    Ok(Status::Clean)
}

/// Explains the table rows behind a finding, by kind or finalizer.
fn rows(word: &str, args: &ExplainArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let rows = engine::rows_about(
        engine::configured_tables()?.as_ref(),
        word,
        args.kind.as_ref(),
    );
    if rows.is_empty() {
        return match engine::parse_finalizer(word) {
            Some(finalizer) => unknown(&finalizer, args),
            // Rules are lower case, and citations contain a hyphen.
            None if word.starts_with(char::is_uppercase) && !word.contains('-') => {
                Err(Error::NothingAboutKind {
                    word: word.to_owned(),
                })
            }
            None => Err(SessionError::from(UnknownRule::new(word)).into()),
        };
    }
    terminal::print(&match args.output {
        PageFormat::Json => report::rows_json(&rows),
        PageFormat::Human | PageFormat::Markdown => {
            report::rows_human(&rows, &display(global, true).human)
        }
    })?;
    Ok(Status::Clean)
}

/// Handles an unknown finalizer: prints the template of an operator file.
fn unknown(finalizer: &FinalizerName, args: &ExplainArgs) -> Result<Status, Error> {
    if args.output == PageFormat::Json {
        terminal::print(&report::rows_json(&[]))?;
        return Ok(Status::Clean);
    }
    let remark = "# Fill in the words in capitals. In your own ownerlint.yaml, `operators: [FILE]` names this file. For \
        all users to know\n\
                  # it, make it rules/operators/NAME.yaml of the project: CONTRIBUTING.md, \"A new operator\".\n";
    let file = file_of(
        &Operator::sketch("NAME", Some((finalizer, args.kind.as_ref()))),
        remark,
    )?;
    let on_kind = args
        .kind
        .as_ref()
        .map_or_else(String::new, |kind| format!(" on {kind}"));
    terminal::print(&format!(
        "Nothing is known about the finalizer {}{on_kind}. If you know what removes it, say so in a file:\n\n{file}",
        finalizer.as_str()
    ))?;
    Ok(Status::Clean)
}

pub(super) fn rules(output: TextOrJson) -> Result<Status, Error> {
    let described: Vec<_> = RULES.iter().map(|rule| engine::describe(rule)).collect();
    terminal::print(&match output {
        TextOrJson::Human => report::rules_human(&described),
        TextOrJson::Json => report::rules_json(&described),
    })?;
    Ok(Status::Clean)
}

fn schemas() -> Vec<String> {
    report::SCHEMAS.map(str::to_owned).to_vec()
}

pub(super) fn schema(args: &SchemaArgs) -> Result<Status, Error> {
    let Some(schema) = report::schema(&args.name) else {
        return Err(Error::Schema {
            name: args.name.clone(),
            known: schemas().join(", "),
        });
    };
    terminal::print(&schema)?;
    Ok(Status::Clean)
}

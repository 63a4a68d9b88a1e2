//! `explain`, `rules` and `schema`: what the program knows.

use clap::{Args, ValueEnum};

use super::error::Error;
use super::output::TextOrJson;
use super::status::Status;
use super::terminal;
use crate::engine::{self, UnknownRule};
use crate::gc;
use crate::report;
use crate::rules::{self, Page, RULES};

#[derive(Clone, Debug, Args)]
pub(super) struct ExplainArgs {
    /// The rule, or what a plan cites in brackets (`GC-22`); without one, all rules are listed
    #[arg(value_name = "RULE")]
    pub(super) rule: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "markdown")]
    pub(super) output: MarkdownOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MarkdownOrJson {
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
    /// The document: baseline, config, list, plan, report, steps
    #[arg(value_name = "NAME")]
    pub(super) name: String,
}

pub(super) fn explain(args: &ExplainArgs) -> Result<Status, Error> {
    let Some(id) = &args.rule else {
        return rules(&RulesArgs {
            output: match args.output {
                MarkdownOrJson::Markdown => TextOrJson::Human,
                MarkdownOrJson::Json => TextOrJson::Json,
            },
        });
    };
    if let Some(says) = gc::semantics(&id.to_uppercase()) {
        // What a plan cites in brackets is one sentence, in any format.
        terminal::print(&format!("{says}\n"))?;
        return Ok(Status::Clean);
    }
    let rule = rules::find(id).ok_or_else(|| UnknownRule::new(id))?;
    let body = Page::parse(rule.page).map_or(rule.page, |page| page.body);
    let text = match args.output {
        MarkdownOrJson::Markdown => {
            format!("{body}\n---\n{} · {} · {}\n", rule.severity.as_str(), rule.consequence.as_str(), rule.url())
        }
        MarkdownOrJson::Json => report::rules_json(&[engine::describe(rule)]),
    };
    terminal::print(&text)?;
    Ok(Status::Clean)
}

pub(super) fn rules(args: &RulesArgs) -> Result<Status, Error> {
    let described: Vec<_> = RULES.iter().map(|rule| engine::describe(rule)).collect();
    terminal::print(&match args.output {
        TextOrJson::Human => report::rules_human(&described),
        TextOrJson::Json => report::rules_json(&described),
    })?;
    Ok(Status::Clean)
}

pub(super) fn schema(args: &SchemaArgs) -> Result<Status, Error> {
    let Some(schema) = report::schema(&args.name) else {
        let known: Vec<_> = report::SCHEMAS.iter().map(|(name, _)| *name).collect();
        return Err(Error::Schema { name: args.name.clone(), known: known.join(", ") });
    };
    terminal::print(schema)?;
    Ok(Status::Clean)
}

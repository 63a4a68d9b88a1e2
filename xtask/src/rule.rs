//! Creates the page and the fixtures of a new rule. Tests name whatever is left to fill in.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::create;

/// Writes `rules/<id>.md` and the fixtures of a rule below `root`, and says what to do next.
pub(crate) fn start(root: &Path, id: &str) -> Result<(), Box<dyn Error>> {
    let page = format!("rules/{id}.md");
    create(&root.join(&page), &page_of(id))?;
    for (verdict, mark) in [("bad", format!(" # expect: {id}")), ("good", String::new())] {
        let folder = root.join(format!("fixtures/rules/{id}/{verdict}"));
        fs::create_dir_all(&folder)?;
        create(&folder.join("first.yaml"), &manifest(&mark))?;
    }
    writeln!(
        io::stdout(),
        "Wrote {page} and fixtures/rules/{id}. Fill in what is in capitals, and replace the examples.\n\
         Then write the function and `rule!` in a file of src/rules/, and add its line to src/rules/registry.rs.\n\
         Then: UPDATE_DOCS=1 INSTA_UPDATE=always cargo test --test it -- docs messages rules::registry\n\
         CONTRIBUTING.md, \"How to add a rule\", says more."
    )?;
    Ok(())
}

fn page_of(id: &str) -> String {
    let (bad, good) = (manifest(&format!(" # expect: {id}")), manifest(""));
    format!(
        "---\nid: {id}\nseverity: warning\nconsequence: rejected\nsince: {version}\nsummary: THE DEFECT IN HALF A SENTENCE\n---\n\n\
         # {id}\n\n```yaml bad\n{bad}```\n\n## What is wrong\n\nTHE DEFECT.\n\n## What the cluster does\n\n\
         WHAT HAPPENS TO WHICH OBJECT, AND WHEN [GC-20].\n\n## How to fix it\n\nWHAT TO WRITE INSTEAD:\n\n```yaml good\n{good}```\n\n\
         ## When to ignore it\n\nWHEN IT IS INTENDED, OR `Never.`\n",
        version = ownerlint::VERSION,
    )
}

/// Returns an example manifest, with `mark` after its name.
fn manifest(mark: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: example{mark}\n  namespace: shop\n"
    )
}

#[cfg(test)]
mod tests {
    use ownerlint::rules::Page;

    use super::*;

    #[test]
    fn started_page_is_a_page_with_two_examples() {
        let text = page_of("owner-example");
        let page = Page::parse(&text).expect("a page");
        assert_eq!(page.front_matter.id, "owner-example");
        assert_eq!(page.front_matter.since, ownerlint::VERSION);
        assert_eq!(page.examples.len(), 2);
    }
}

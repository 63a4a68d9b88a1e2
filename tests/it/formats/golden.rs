//! Golden files, to be reviewed when they change.

use ownerlint::report::{Format, HumanOptions, Options, render};

use super::sample;
use crate::html::HtmlPage;

fn golden(name: &str, format: Format, options: &Options) {
    let text = render(format, &sample::report(), options);
    insta::with_settings!({ snapshot_path => "golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn every_format_reads_as_its_golden_file_says() {
    for format in Format::ALL
        .into_iter()
        .filter(|format| *format != Format::Html)
    {
        golden(format.as_str(), format, &sample::options());
    }
}

#[test]
fn a_page_says_beside_its_contract_what_the_golden_file_says() {
    let text = render(Format::Html, &sample::report(), &sample::options());
    let mut beside = HtmlPage::read(&text).beside;
    let rules = beside["rules"].as_object_mut().expect("rules");
    rules
        .values_mut()
        .for_each(|rule| rule["page"] = "its page".into());
    insta::with_settings!({ snapshot_path => "golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("html", serde_json::to_string_pretty(&beside).expect("JSON"));
    });
}

#[test]
fn colours_links_and_narrow_terminals_are_options_of_the_human_format() {
    let options = Options {
        human: HumanOptions {
            color: true,
            links: true,
            ascii: true,
            width: 60,
            ..sample::options().human
        },
        ..sample::options()
    };
    // Escape characters would make the golden file unreadable.
    let text = render(Format::Human, &sample::report(), &options).replace('\u{1b}', "<ESC>");
    insta::with_settings!({ snapshot_path => "golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("human-color-links-ascii", text);
    });
}

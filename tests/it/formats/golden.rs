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
fn formats_equal_their_golden_files() {
    for format in Format::ALL
        .into_iter()
        .filter(|format| *format != Format::Html)
    {
        golden(format.as_str(), format, &sample::options());
    }
}

#[test]
fn html_page_data_equals_golden_file() {
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
fn human_format_with_colours_links_and_ascii_equals_golden_file() {
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

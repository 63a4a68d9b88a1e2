//! Golden files, to be read by people when they change.

use ownerlint::report::{Format, HumanOptions, Options, render};

use super::sample;

fn golden(name: &str, format: Format, options: &Options) {
    let text = render(format, &sample::report(), options);
    insta::with_settings!({ snapshot_path => "golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn every_format_reads_as_its_golden_file_says() {
    for format in Format::ALL {
        golden(format.as_str(), format, &sample::options());
    }
}

#[test]
fn colours_links_and_narrow_terminals_are_options_of_the_human_format() {
    let options = Options {
        human: HumanOptions { color: true, links: true, ascii: true, width: 60, ..sample::options().human },
        ..sample::options()
    };
    // Escape characters would make the golden file unreadable.
    let text = render(Format::Human, &sample::report(), &options).replace('\u{1b}', "<ESC>");
    insta::with_settings!({ snapshot_path => "golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("human-color-links-ascii", text);
    });
}

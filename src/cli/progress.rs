//! Progress of a long command: a line on standard error, if that is a terminal, removed when the bar is dropped.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressFinish, ProgressState, ProgressStyle};

use crate::charts::RenderingProgress;

/// The interval at which a line is redrawn without progress.
const TICK: Duration = Duration::from_millis(100);

/// Shows the progress of reading a text, of known length or not.
pub(super) fn of_bytes(length: Option<u64>) -> ProgressBar {
    let (bar, template) = match length {
        Some(length) => (
            ProgressBar::new(length),
            "{bytes:>10} of {total_bytes} {wide_bar} {eta}",
        ),
        None => (ProgressBar::new_spinner(), "{bytes:>10} {spinner}"),
    };
    shown(bar, style(template))
}

/// Shows the progress of fetching and rendering charts; nothing as long as there are none.
pub(super) fn of_charts(progress: &Arc<RenderingProgress>) -> ProgressBar {
    let progress = Arc::clone(progress);
    let style =
        style("{charts}").with_key("charts", move |_: &ProgressState, line: &mut dyn Write| {
            let (done, wanted) = progress.counts();
            if wanted > 0 {
                // Drawing errors are ignored.
                let _ = write!(line, "rendering charts: {done} of {wanted}");
            }
        });
    let bar = shown(ProgressBar::new_spinner(), style);
    bar.enable_steady_tick(TICK);
    bar
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn shown(bar: ProgressBar, style: ProgressStyle) -> ProgressBar {
    bar.with_style(style).with_finish(ProgressFinish::AndClear)
}

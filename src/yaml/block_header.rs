//! The header of a block scalar: the indicators after `|` or `>`.

/// The handling of the line breaks at the end of a block scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chomp {
    /// `-`: all are removed.
    Strip,
    /// Neither of these: the last line keeps its own.
    Clip,
    /// `+`: all are kept.
    Keep,
}

/// Chomping and indentation indicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHeader {
    pub(super) chomp: Chomp,
    /// The indentation relative to the parent, if it is written.
    pub(super) increment: Option<u8>,
}

impl BlockHeader {
    /// Reads the indicators in either order, each at most once. Returns their length in bytes.
    pub(super) fn read(after_indicator: &[u8]) -> (Self, usize) {
        let (mut chomp, mut increment, mut width) = (None, None, 0);
        loop {
            match after_indicator.get(width) {
                Some(b'+') if chomp.is_none() => chomp = Some(Chomp::Keep),
                Some(b'-') if chomp.is_none() => chomp = Some(Chomp::Strip),
                Some(digit @ b'1'..=b'9') if increment.is_none() => increment = Some(digit - b'0'),
                _ => {
                    return (
                        Self {
                            chomp: chomp.unwrap_or(Chomp::Clip),
                            increment,
                        },
                        width,
                    );
                }
            }
            width += 1;
        }
    }
}

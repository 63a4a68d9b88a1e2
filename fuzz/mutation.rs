//! Texts that are nearly valid: real documents with a few mistakes in them.
//!
//! A mutant is a function of its number alone, so a number is all that has to be kept of one.

use std::ops::Range;

/// Pieces that mean something to YAML.
const PIECES: &[&str] = &[
    "\n", "\n\n", " ", "  ", "\t", "\r\n", "\r", ":", ": ", ":\n", "-", "- ", "-\n", "- - ", "? ",
    "#", " #", " # c\n", "'", "\"", "''", "|", ">", ": |\n", ": >-\n", ": |2\n", "|+", "{", "}",
    "[", "]", ",", ", ", "{}", "[]", "{a: b}", "[a, b]", "{{ x }}", "&a ", ": &a ", "*a", "!!str ",
    "! ", "<<: ", "---", "\n---\n", "...", "\n...\n", "%", "@", "`", "\\", "\\n", "\\u00e9",
    "\\\n", "é", "😀", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{7F}", "\u{0}", "yes", "null", "a:",
    "a: b", "\na: b\n", "~",
];

/// The most lines that a mutant begins with: mistakes in short texts meet more of their surroundings.
const LINES: usize = 40;

/// The mutant with this number.
pub(super) fn mutant(documents: &[String], number: u64) -> String {
    let mut random = Random(number);
    let mut text = excerpt(random.one_of::<String>(documents), &mut random);
    for _ in 0..=random.below(3) {
        let other = random.one_of::<String>(documents);
        mutate(&mut text, other, &mut random);
    }
    text
}

/// SplitMix64: every state is a good seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, or 0.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A place between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut place = self.below(text.len() + 1);
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    }

    /// A few lines.
    fn lines(&mut self, count: usize) -> Range<usize> {
        let start = self.below(count);
        start..(start + 1 + self.below(4)).min(count)
    }
}

/// Some lines of a document, or all of them.
fn excerpt(document: &str, random: &mut Random) -> String {
    let lines: Vec<&str> = document.split_inclusive('\n').collect();
    let start = if random.below(3) == 0 {
        0
    } else {
        random.below(lines.len())
    };
    let end = (start + 1 + random.below(LINES)).min(lines.len());
    lines[start..end].concat()
}

fn mutate(text: &mut String, other: &str, random: &mut Random) {
    match random.below(10) {
        0..=3 => replace(text, random),
        4 => mutate_lines(text, random, |lines, chosen, random| {
            let moved: Vec<String> = lines.drain(chosen).collect();
            let place = random.below(lines.len() + 1);
            lines.splice(place..place, moved);
        }),
        5 => mutate_lines(text, random, |lines, chosen, random| {
            let copied: Vec<String> = lines[chosen].to_vec();
            let place = random.below(lines.len() + 1);
            lines.splice(place..place, copied);
        }),
        6 | 7 => mutate_lines(text, random, |lines, chosen, random| {
            indent(&mut lines[chosen], random);
        }),
        8 => mutate_lines(text, random, |lines, chosen, random| {
            let inserted = excerpt(other, random);
            lines.splice(chosen, [inserted]);
        }),
        _ => match random.below(4) {
            0 => *text = text.replace('\n', "\r\n"),
            1 => text.truncate(random.place(text)),
            2 => *text = text.replacen(": ", random.one_of::<&str>(PIECES), 1),
            _ => *text = format!("---\n{text}"),
        },
    }
}

/// Replaces a few bytes by a piece.
fn replace(text: &mut String, random: &mut Random) {
    let start = random.place(text);
    let mut end = (start + random.below(4)).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let piece = if random.below(4) == 0 {
        ""
    } else {
        random.one_of::<&str>(PIECES)
    };
    text.replace_range(start..end, piece);
}

fn mutate_lines(
    text: &mut String,
    random: &mut Random,
    change: impl FnOnce(&mut Vec<String>, Range<usize>, &mut Random),
) {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if !lines.is_empty() {
        let chosen = random.lines(lines.len());
        change(&mut lines, chosen, random);
        *text = lines.concat();
    }
}

/// Moves lines to the right or to the left.
fn indent(lines: &mut [String], random: &mut Random) {
    let amount = 1 + random.below(4);
    let right = random.below(2) == 0;
    for line in lines {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if right {
            line.insert_str(0, &" ".repeat(amount));
        } else {
            drop(line.drain(..amount.min(spaces)));
        }
    }
}

//! Where the lines of a text start.

use memchr::memchr_iter;

/// An index of a text's line ends: how many LFs come before the end of each block. To find a line,
/// one block is searched. The methods take the text that the index was made of.
#[derive(Debug)]
pub(super) struct Lines {
    ends: Vec<u64>,
}

impl Lines {
    const BLOCK: usize = 2048;

    pub(super) fn of(text: &str) -> Self {
        let mut total = 0;
        let blocks = text.as_bytes().chunks(Self::BLOCK);
        let ends = blocks.map(|block| {
            total += lines_ended(block);
            total
        });
        Self { ends: ends.collect() }
    }

    /// The number of lines: one for each LF, and one more if the text is not empty and does not end
    /// in LF.
    pub(super) fn count(&self, text: &str) -> u64 {
        let unfinished = !text.is_empty() && !text.ends_with('\n');
        self.ends.last().copied().unwrap_or_default() + u64::from(unfinished)
    }

    /// Where the line after the first `lines` lines starts; the text's length if there is none.
    pub(super) fn start_of(&self, text: &str, lines: u64) -> usize {
        if lines == 0 {
            return 0;
        }
        let block = self.ends.partition_point(|&ends| ends < lines);
        let before = self.ended_before_block(block);
        let from = (block * Self::BLOCK).min(text.len());
        let line_feed = nth_line_feed(&text.as_bytes()[from..], lines - before - 1);
        line_feed.map_or(text.len(), |line_feed| from + line_feed + 1)
    }

    /// How many lines end before an offset.
    pub(super) fn ended_before(&self, text: &str, offset: usize) -> u64 {
        let block = offset / Self::BLOCK;
        let rest = &text.as_bytes()[block * Self::BLOCK..offset];
        self.ended_before_block(block) + lines_ended(rest)
    }

    fn ended_before_block(&self, block: usize) -> u64 {
        block.checked_sub(1).map_or(0, |block| self.ends[block])
    }
}

/// How many lines end in some bytes: the number of LFs.
#[must_use]
pub fn lines_ended(bytes: &[u8]) -> u64 {
    bytecount::count(bytes, b'\n') as u64
}

/// Where the LF stands that `before` others precede.
fn nth_line_feed(bytes: &[u8], mut before: u64) -> Option<usize> {
    // Finding an LF costs ten times as much as counting it, so only the last few are looked for.
    const STEP: usize = 256;
    let mut from = 0;
    for step in bytes.chunks(STEP) {
        let line_feeds = lines_ended(step);
        if line_feeds > before {
            let nth = usize::try_from(before).unwrap_or(usize::MAX);
            return memchr_iter(b'\n', step).nth(nth).map(|line_feed| from + line_feed);
        }
        before -= line_feeds;
        from += step.len();
    }
    None
}

//! Memory to read whole files into, kept from one file to the next.
//!
//! If the system has a file of 1 MiB in its memory, two things cost more than the copy. The first
//! is fresh memory, because each of its pages faults once. The second, on some CPUs, is a target
//! that starts 8 or 16 bytes past the beginning of a page: the copy then takes ten times as long.
//! Allocators put large blocks there.

use std::io;

/// The smallest page of the systems that this library runs on.
const PAGE: usize = 4096;

/// The size of the buffer at first, for a file of unknown size.
const FIRST: usize = 8192;

/// A buffer for [`OpenFile::read_into`](super::file::OpenFile::read_into). It grows to the largest file that
/// was read into it, and is never smaller again.
#[derive(Debug, Default)]
pub struct ReadBuffer {
    /// One page longer than the used part, so that that part can start at a page's beginning.
    memory: Vec<u8>,
}

impl ReadBuffer {
    /// An empty buffer, which takes no memory.
    #[must_use]
    pub const fn new() -> Self {
        Self { memory: Vec::new() }
    }

    /// All of the buffer's bytes, whatever was read into them last.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        let len = self.memory.len().saturating_sub(PAGE);
        // It may be `usize::MAX`, which says that there is no such offset.
        let start = self.memory.as_ptr().align_offset(PAGE).min(self.memory.len() - len);
        &mut self.memory[start..start + len]
    }

    /// Makes room for so many bytes. The old content is lost.
    pub(super) fn reserve(&mut self, len: usize) -> io::Result<()> {
        if self.bytes().len() < len {
            self.memory = Self::allocate(len)?;
        }
        Ok(())
    }

    /// Doubles the buffer, to no more than `most` bytes, and keeps its content.
    pub(super) fn grow(&mut self, most: usize) -> io::Result<()> {
        let len = self.bytes().len().saturating_mul(2).max(FIRST).min(most);
        let mut larger = Self { memory: Self::allocate(len)? };
        let old = self.bytes();
        let kept = old.len().min(len);
        larger.bytes()[..kept].copy_from_slice(&old[..kept]);
        *self = larger;
        Ok(())
    }

    fn allocate(len: usize) -> io::Result<Vec<u8>> {
        let mut memory = Vec::new();
        let len = len.saturating_add(PAGE);
        // A size that no memory can hold must not end the process.
        memory.try_reserve_exact(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        memory.resize(len, 0);
        Ok(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_starts_where_a_page_does() {
        let mut buffer = ReadBuffer::new();
        for len in [1, PAGE, 100_000, 1 << 20] {
            buffer.reserve(len).unwrap();
            assert!(buffer.bytes().len() >= len);
            assert_eq!(buffer.bytes().as_ptr().align_offset(PAGE), 0);
        }
    }

    #[test]
    fn growing_keeps_what_was_read_and_stops_at_the_most() {
        let mut buffer = ReadBuffer::new();
        buffer.grow(usize::MAX).unwrap();
        assert_eq!(buffer.bytes().len(), FIRST);
        buffer.bytes().fill(7);
        buffer.grow(10_000).unwrap();
        assert_eq!(buffer.bytes().len(), 10_000);
        assert!(buffer.bytes()[..FIRST].iter().all(|&byte| byte == 7));
    }

    #[test]
    fn more_than_any_memory_can_hold_is_an_error() {
        assert!(ReadBuffer::new().reserve(usize::MAX - 1).is_err());
    }
}

//! Memory for a size that comes from a caller, a host or a disk. If there is not enough, the
//! result is an error: an ordinary allocation that fails ends the process.

/// There is not enough memory for so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is not enough memory for {0} bytes")]
pub struct OutOfMemory(pub u64);

/// A vector with room for exactly so many elements.
///
/// # Errors
///
/// [`OutOfMemory`].
pub fn room_for<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut room = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>()) as u64;
    room.try_reserve_exact(count).map_err(|_| OutOfMemory(bytes))?;
    Ok(room)
}

/// A copy of bytes.
///
/// # Errors
///
/// [`OutOfMemory`].
pub fn copy_of(bytes: &[u8]) -> Result<Vec<u8>, OutOfMemory> {
    let mut copy = room_for(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Checks that so many bytes are free at this moment, for code of other crates whose allocations
/// cannot return an error.
///
/// # Errors
///
/// [`OutOfMemory`].
pub fn check(bytes: usize) -> Result<(), OutOfMemory> {
    room_for::<u8>(bytes).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_any_memory_can_hold_is_an_error() {
        assert_eq!(room_for::<u16>(usize::MAX).err(), Some(OutOfMemory(u64::MAX)));
        let most = usize::try_from(isize::MAX).unwrap();
        assert_eq!(check(most), Err(OutOfMemory(most as u64)));
        assert_eq!(copy_of(b"abc"), Ok(b"abc".to_vec()));
    }
}

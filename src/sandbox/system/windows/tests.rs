//! Reparse data and names, byte by byte: what Wine has no links for, and this machine none to make.

use std::ffi::OsStr;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
};
use windows_sys::Win32::System::SystemServices::{
    IO_REPARSE_TAG_MOUNT_POINT, IO_REPARSE_TAG_SYMLINK,
};

use super::list::entry_kind;
use super::reparse::ReparseTarget;
use super::spelling::{steps, strip_root};
use super::sys;
use crate::sandbox::entry::{EntryKind, Step};

/// `REPARSE_DATA_BUFFER` of a symbolic link or a junction, as `ntifs.h` lays it out.
fn reparse(tag: u32, flags: Option<u32>, substitute: &str) -> Vec<u8> {
    let name: Vec<u8> = substitute.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let length = u16::try_from(name.len()).unwrap();
    let mut body = Vec::new();
    for field in [0, length, length, 0] {
        body.extend(field.to_le_bytes());
    }
    body.extend(flags.into_iter().flat_map(u32::to_le_bytes));
    body.extend(name);
    let mut data = tag.to_le_bytes().to_vec();
    data.extend(u16::try_from(body.len()).unwrap().to_le_bytes());
    data.extend([0, 0]);
    data.extend(body);
    data
}

#[test]
fn a_relative_link_is_read() {
    let data = reparse(IO_REPARSE_TAG_SYMLINK, Some(1), r"..\dir\b.txt");
    let target = ReparseTarget::parse(&data).unwrap();
    assert_eq!(target, ReparseTarget::Relative(r"..\dir\b.txt".into()));
}

#[test]
fn absolute_links_and_junctions_are_read() {
    for data in [
        reparse(IO_REPARSE_TAG_SYMLINK, Some(0), r"\??\C:\ws\a"),
        reparse(IO_REPARSE_TAG_MOUNT_POINT, None, r"\??\C:\ws\a"),
    ] {
        let target = ReparseTarget::parse(&data).unwrap();
        assert_eq!(target, ReparseTarget::Absolute(r"\\?\C:\ws\a".into()));
    }
}

#[test]
fn reparse_data_cut_anywhere_is_refused_and_not_a_panic() {
    let data = reparse(IO_REPARSE_TAG_SYMLINK, Some(1), "target");
    for length in 0..data.len() {
        assert_eq!(ReparseTarget::parse(&data[..length]), None, "{length}");
    }
}

#[test]
fn volume_mount_points_lead_outside() {
    let data = reparse(IO_REPARSE_TAG_MOUNT_POINT, None, r"\??\Volume{0}\dir");
    let ReparseTarget::Absolute(target) = ReparseTarget::parse(&data).unwrap() else { panic!() };
    assert_eq!(strip_root(Path::new(r"C:\ws"), &target), None);
}

#[test]
fn a_root_is_found_in_other_case_and_other_spellings_of_its_drive() {
    let root = Path::new(r"c:\Ws");
    for path in [r"C:\ws\a\b", r"\\?\C:\WS\a\b", "C:/ws/./a/b"] {
        assert_eq!(strip_root(root, Path::new(path)), Some(r"a\b".into()), "{path}");
    }
    for path in [r"D:\ws\a", r"C:\ws-evil\a", r"C:\", r"C:\x\..\ws\a", r"\\srv\share\ws\a"] {
        assert_eq!(strip_root(root, Path::new(path)), None, "{path}");
    }
    let share = Path::new(r"\\srv\share\ws");
    assert_eq!(strip_root(share, Path::new(r"\\?\UNC\SRV\Share\ws\a")), Some("a".into()));
}

#[test]
fn steps_split_at_either_slash_and_keep_dots() {
    let into = |name: &str| Step::Into(name.into());
    assert_eq!(steps(OsStr::new(r"..\a/.\b")), [Step::Up, into("a"), Step::Stay, into("b")]);
    assert_eq!(steps(OsStr::new("")), [Step::Stay]);
}

/// `FILE_FULL_DIR_INFORMATION`, as MS-FSCC 2.4.14 lays it out: two numbers of 32 bits, six of 64,
/// the attributes, the length of the name and the reparse tag of 32 each, then the name.
fn full_information(next: u32, attributes: u32, tag: u32, name: &str) -> Vec<u8> {
    let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_ne_bytes).collect();
    let mut entry = next.to_ne_bytes().to_vec();
    entry.resize(4 + 4 + 6 * 8, 0);
    for field in [attributes, u32::try_from(name.len()).unwrap(), tag] {
        entry.extend(field.to_ne_bytes());
    }
    entry.extend(name);
    entry.resize(entry.len().next_multiple_of(8), 0);
    entry
}

#[test]
fn a_listing_says_what_each_entry_is_and_cut_anywhere_it_is_no_panic() {
    let mut chain = full_information(80, FILE_ATTRIBUTE_DIRECTORY, 0, "dir");
    chain.extend(full_information(0, 0x20, 7, "a.txt"));
    assert_eq!(
        sys::parse_entries(&chain),
        [("dir".into(), FILE_ATTRIBUTE_DIRECTORY, 0), ("a.txt".into(), 0x20, 7)]
    );
    for length in 0..80 + 78 {
        assert!(sys::parse_entries(&chain[..length]).len() < 2, "{length}");
    }
}

#[test]
fn reparse_points_are_links_unless_the_file_system_stores_files_so() {
    const DIRECTORY: u32 = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;
    assert_eq!(entry_kind(FILE_ATTRIBUTE_REPARSE_POINT, IO_REPARSE_TAG_SYMLINK), EntryKind::Link);
    assert_eq!(entry_kind(DIRECTORY, IO_REPARSE_TAG_MOUNT_POINT), EntryKind::Link);
    // `IO_REPARSE_TAG_LX_SYMLINK`, `…_CLOUD`, `…_DEDUP`, `…_LX_FIFO`.
    assert_eq!(entry_kind(FILE_ATTRIBUTE_REPARSE_POINT, 0xA000_001D), EntryKind::Link);
    assert_eq!(entry_kind(DIRECTORY, 0x9000_001A), EntryKind::Folder);
    assert_eq!(entry_kind(FILE_ATTRIBUTE_REPARSE_POINT, 0x8000_0013), EntryKind::File);
    assert_eq!(entry_kind(FILE_ATTRIBUTE_REPARSE_POINT, 0x8000_0024), EntryKind::Special);
    // Not told which.
    assert_eq!(entry_kind(DIRECTORY, 0), EntryKind::Link);
}

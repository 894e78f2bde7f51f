//! Reparse data and names, byte by byte: what Wine has no links for, and this machine none to make.

use super::*;

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

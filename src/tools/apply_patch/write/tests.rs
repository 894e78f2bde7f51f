use std::fs::{self, File};
use std::sync::Mutex;

use crate::sandbox::Sandbox;
use crate::tools::apply_patch::{ApplyPatchRequest, apply_patch};
use crate::tools::entry_change::ChangeOptions;

#[test]
fn a_file_that_is_left_beside_when_a_patch_is_taken_back_is_told() {
    let workspace = tempfile::tempdir().unwrap();
    let changed = workspace.path().join("a.txt");
    fs::write(&changed, "old\n").unwrap();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n-old\n+new\n*** Add File: b.txt\n+b\n*** End Patch\n";
    let request = ApplyPatchRequest { patch: patch.to_owned(), ..Default::default() };
    // Another program opens the new content, and the call is aborted before the second file.
    let reader = Mutex::new(None);
    let cancelled = || {
        let is_new = fs::read(&changed).is_ok_and(|bytes| bytes == b"new\n");
        if is_new {
            *reader.lock().unwrap() = File::open(&changed).ok();
        }
        is_new
    };
    let sandbox = Sandbox::open(workspace.path()).unwrap();
    let failure =
        apply_patch(&sandbox, &request, ChangeOptions::default(), &cancelled).unwrap_err();
    let names: Vec<_> = fs::read_dir(workspace.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let kept = names.iter().find(|name| name.starts_with(".rf-")).unwrap();
    assert_eq!(fs::read(&changed).unwrap(), b"old\n");
    assert_eq!(names.len(), 2);
    assert!(!failure.is_cancelled());
    assert!(failure.to_string().contains(kept), "{failure}");
}

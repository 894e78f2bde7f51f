use std::fs::{self, File};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// What a patch with a file to delete does where a link takes the place of the file, after the patch was planned.
#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_file_to_delete_is_looked_at_anew() {
    let workspace = tempfile::tempdir().unwrap();
    let at = |name: &str| workspace.path().join(name);
    for name in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        fs::write(at(name), "old\n").unwrap();
    }
    let update = |name: &str| format!("*** Update File: {name}\n-old\n+new\n");
    let patch = format!(
        "*** Begin Patch\n{}{}*** Delete File: b.txt\n*** End Patch\n",
        update("a.txt"),
        update("d.txt")
    );
    let request = ApplyPatchRequest { patch, ..Default::default() };
    // The second file is being written, and the third has not been looked at for its removal.
    let is_exchanged = AtomicBool::new(false);
    let cancelled = || {
        let is_new = fs::read(at("a.txt")).is_ok_and(|bytes| bytes == b"new\n");
        if is_new && !is_exchanged.swap(true, Ordering::Relaxed) {
            fs::remove_file(at("b.txt")).unwrap();
            std::os::unix::fs::symlink("c.txt", at("b.txt")).unwrap();
        }
        false
    };
    let sandbox = Sandbox::open(workspace.path()).unwrap();
    let answer = apply_patch(&sandbox, &request, ChangeOptions::default(), &cancelled);
    assert!(is_exchanged.load(Ordering::Relaxed));
    assert_eq!(answer.map(|_| ()).map_err(|error| error.to_string()), Ok(()));
    assert!(!fs::exists(at("b.txt")).unwrap());
    assert_eq!(fs::read(at("c.txt")).unwrap(), b"old\n");
}

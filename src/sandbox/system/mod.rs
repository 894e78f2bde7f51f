//! Each system's operations on one open folder and one name in it.
//!
//! Nothing here knows the root or follows a link. Every system offers the functions that are
//! re-exported below under the same names.
//!
//! | folder | system |
//! | --- | --- |
//! | `linux/` | `openat2`, leases, files without a name |
//! | `macos.rs` | the same questions, as macOS answers them |
//! | `unix/` | code for both Linux and macOS; `native.rs` is the one of the two that is compiled |
//! | `windows/` | `NtCreateFile` beneath handles; `sys.rs` has the `unsafe` calls |

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod native;
#[cfg(unix)]
pub(super) mod unix;
#[cfg(windows)]
pub(super) mod windows;

#[cfg(target_os = "linux")]
pub(super) use linux::openat2::{self, MountedInode, is_known_to_offer_openat2, offers_openat2};
#[cfg(target_os = "macos")]
pub(super) use macos::{is_known_to_offer_openat2, offers_openat2};
#[cfg(target_os = "linux")]
pub(super) use native::DIRECTORY;
#[cfg(unix)]
pub(super) use native::{PATH_MAX, visit_entries, wait_for_others};
#[cfg(unix)]
pub(super) use unix::change::{
    Named, RemovalRights, hold, is_into_itself, is_same_mount, may_leave_its_parent, remove_name,
    rename_over, rename_to_free_name,
};
#[cfg(target_os = "linux")]
pub(super) use unix::error::open_error;
#[cfg(unix)]
pub(super) use unix::folder::{
    entry_facts, file_id, folder_id, is_short_name, kind_at, make_folder, remove_folder,
    sync_folder,
};
#[cfg(unix)]
pub(super) use unix::handle::Directory;
#[cfg(unix)]
pub(super) use unix::held::Held;
#[cfg(all(unix, test))]
pub(super) use unix::held::{rename_in_two_steps, rename_over_placeholder};
#[cfg(unix)]
pub(super) use unix::inside::part_beneath;
#[cfg(target_os = "linux")]
pub(super) use unix::open::read_flags;
#[cfg(unix)]
pub(super) use unix::open::{
    MAX_FOLDERS_HELD, is_locked, open_directory, open_directory_to_list,
    open_directory_to_write_in, open_entry, open_parent, open_to_read, read_link,
};
#[cfg(unix)]
pub(super) use unix::spelling::steps_beneath;

#[cfg(windows)]
pub(super) use windows::{
    change::{
        Named, RemovalRights, hold, is_into_itself, is_same_mount, may_leave_its_parent,
        remove_name, rename_over, rename_to_free_name,
    },
    error::is_locked,
    folder::{
        entry_facts, file_id, folder_id, is_short_name, kind_at, make_folder, remove_folder,
        sync_folder,
    },
    handle::Directory,
    held::Held,
    list::visit_entries,
    open::{
        MAX_FOLDERS_HELD, PATH_MAX, is_known_to_offer_openat2, offers_openat2, open_directory,
        open_directory_to_list, open_directory_to_write_in, open_entry, open_parent, open_to_read,
        read_link, wait_for_others,
    },
    spelling::{part_beneath, steps_beneath},
};

//! The sandbox's errors in the words of the tools.
//!
//! The sandbox speaks of roots, files and links. A tool's caller knows arguments, so these sentences
//! name the argument that an error is about, where there is one.

use crate::sandbox::{MAX_COMPARED_BYTES, OpenError, WriteError};

/// The directory of the `workspaceRoot` has been removed.
pub(super) const ROOT_GONE: &str = "workspaceRoot does not exist any more";

pub(super) fn open_error(error: &OpenError) -> String {
    match error {
        OpenError::RootGone => ROOT_GONE.to_owned(),
        error => error.to_string(),
    }
}

pub(super) fn write_error(error: &WriteError) -> String {
    match error {
        // `createFile` has no code of its own for this.
        WriteError::Open(error @ OpenError::Denied) => format!("PATH_DENIED: {error}"),
        WriteError::Open(error) => open_error(error),
        WriteError::Exists => "a file exists there; set overwrite to true to replace it".to_owned(),
        WriteError::Unreadable => {
            "the file may not be read, and so cannot be compared with expectedHash".to_owned()
        }
        WriteError::TooLargeToCompare => format!(
            "the file is too large to be compared with expectedHash: the limit is \
             {MAX_COMPARED_BYTES} bytes (64 MiB); leave expectedHash out to replace it all the same"
        ),
        WriteError::Kept { because, stray } => format!("{}; {stray}", write_error(because)),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Stray;

    #[test]
    fn the_reason_for_which_a_file_is_kept_names_its_argument_too() {
        let because = Box::new(WriteError::Unreadable);
        let kept = write_error(&WriteError::Kept { because, stray: Stray::Elsewhere });
        assert!(kept.contains("compared with expectedHash; in the moment"), "{kept}");
    }

    #[test]
    fn errors_of_the_sandbox_name_no_argument() {
        for error in [
            WriteError::Exists,
            WriteError::Unreadable,
            WriteError::TooLargeToCompare,
            WriteError::Open(OpenError::RootGone),
        ] {
            let (own, told) = (error.to_string(), write_error(&error));
            for argument in ["overwrite", "expectedHash", "workspaceRoot"] {
                assert!(!own.contains(argument), "{own}");
            }
            assert_ne!(own, told);
        }
    }
}

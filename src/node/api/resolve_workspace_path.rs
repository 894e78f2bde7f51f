//! `resolveWorkspacePath`.

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::Argument;
use super::error::or_throw;
use super::options::read_root;
use super::path_argument::read_path;
use crate::node::engine::text::Text;
use crate::path::spelled_root::spells_root;
use crate::tools::read_file::ReadFileError;
use crate::tools::resolve_path::resolve_path;

/// Resolves a model's path to an absolute one in the workspace, by its spelling alone: nothing is looked up,
/// and a link may still lead out. A final separator, which asks for a folder, is kept as `/`.
///
/// Throws the `ReadFileError` that `readFile` rejects with where it refuses the spelling.
#[napi(ts_args_type = "workspaceRoot: string, path: string", ts_return_type = "string")]
pub fn resolve_workspace_path(
    env: &Env,
    workspace_root: Unknown<'_>,
    path: Unknown<'_>,
) -> napi::Result<String> {
    let root = Argument::new(env, "workspaceRoot", workspace_root);
    let path = Argument::new(env, "path", path);
    or_throw(env, || {
        let root = read_root(root).map_err(|error| ReadFileError::new(error, None))?;
        let root = root.to_string_lossy();
        let text = read_path(path)?.map_err(|error| {
            let given = path.string_up_to(usize::MAX).ok();
            let error = ReadFileError::new(error, given.as_ref().map(Text::as_str));
            error.hiding(|text| spells_root(text, &root))
        })?;
        resolve_path(&root, &text)
    })
}

//! `tree`.

use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::{Argument, number};
use super::context::{Context, Purpose};
use super::failure::{FailureOf, HasErrorName, given_path, opened_at, refused_in};
use super::signals::read_signals;
use crate::argument::ArgumentError;
use crate::node::call::run::{Call, Prepared, run_async};
use crate::node::engine::raw::List;
use crate::node::engine::text::JsText;
use crate::tools::tree::{
    self as core, Content, MAX_DEPTH, MAX_ENTRIES, MAX_GLOBS, Node, Tree, TreeOptions,
};

/// The result of `tree`.
#[napi(object, object_from_js = false)]
pub struct TreeResult {
    /// The folder that was asked for, with all that it holds.
    pub root: TreeNode,
    /// Whether there are more nodes than `max_entries`.
    #[napi(js_name = "limit_reached")]
    pub limit_reached: bool,
    /// How many nodes the tree has, the root included.
    #[napi(js_name = "scanned_entries")]
    pub scanned_entries: f64,
    /// How many of them are folders.
    #[napi(js_name = "total_dirs")]
    pub total_dirs: f64,
    /// How many are files.
    #[napi(js_name = "total_files")]
    pub total_files: f64,
    /// How many are links.
    #[napi(js_name = "total_symlinks")]
    pub total_symlinks: f64,
}

/// A node of a tree.
#[napi(object, object_from_js = false)]
pub struct TreeNode {
    /// The last component of the path; `"."` for the workspace root.
    #[napi(ts_type = "string")]
    pub name: JsText<'static>,
    /// Relative to the workspace root, components separated by `/`; `"."` for the root itself.
    #[napi(ts_type = "string")]
    pub path: JsText<'static>,
    /// How deep it stands: the folder that was asked for has depth 0.
    pub depth: u32,
    /// A link is a `"symlink"`, wherever it leads.
    #[napi(ts_type = "\"directory\" | \"file\" | \"symlink\"")]
    pub kind: &'static str,
    /// Only there on a folder that was not looked into: the depth ended, or it may not be read.
    #[napi(ts_type = "true")]
    pub truncated: Option<bool>,
    /// Only there on a folder that was looked into: folders first, then files, then links, each by name.
    #[napi(ts_type = "Array<TreeNode>")]
    pub children: Option<List<TreeNode>>,
}

/// The tree of a folder as objects; of the workspace root without `path`.
///
/// Links are shown with `entry_kind: "all"` and never entered. Folders called `.git`, `node_modules`,
/// `dist`, `build`, `target` or `.vscode` are left out, unless `path` lies in one, and so are files called
/// `.DS_Store`. `path` may be absolute if it lies inside the workspace, so a secure-tool wrapper can use this
/// function as its handler.
///
/// Rejects with a `TreeError`, or with `signal.reason` when `options.signal` is aborted; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, path?: string | null, options?: TreeOptions | null",
    ts_return_type = "Promise<TreeResult>"
)]
pub fn tree<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_async(env, || prepare(env, context, path, options))
}

struct TreeTool;

impl HasErrorName for TreeTool {
    const ERROR_NAME: &'static str = "TreeError";
}

type TreeOutcome = Result<TreeResult, FailureOf<TreeTool>>;

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(&AtomicBool) -> TreeOutcome + Send + 'static, TreeOutcome> {
    let context = Argument::new(env, "context", context);
    let path = Argument::new(env, "path", path).present();
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, Some(context)])?;
    let given = given_path(path);
    let refused = |error| FailureOf::from(refused_in(error, None, given.as_deref()));
    let context = Context::read(context, Purpose::Read).map_err(refused)?;
    let refused = |error| FailureOf::from(refused_in(error, Some(&context), given.as_deref()));
    let path = path.map(Argument::unicode).transpose().map_err(refused)?;
    let options = read_options(options).map_err(refused)?;
    let signals = signals.map_err(refused)?;
    Ok(Call::new(signals, move |aborted: &AtomicBool| {
        let cancelled = || aborted.load(Ordering::Relaxed);
        let sandbox =
            context.open().map_err(|error| opened_at(error, &context, path.as_deref()))?;
        Ok(core::tree(&sandbox, path.as_deref(), &options, &cancelled)?.into())
    }))
}

fn read_options(options: Option<Argument<'_>>) -> Result<TreeOptions, ArgumentError> {
    let mut read = TreeOptions::default();
    let Some(options) = options.map(Argument::object).transpose()? else { return Ok(read) };
    let kinds = [("directory", false), ("all", true)];
    if let Some(all) = options.optional(c"entry_kind", "entry_kind", |kind| kind.one_of(&kinds))? {
        read.all_kinds = all;
    }
    let depth = |depth: Argument<'_>| depth.integer_in(&(0..=MAX_DEPTH));
    if let Some(depth) = options.optional(c"max_depth", "max_depth", depth)? {
        read.max_depth = usize::try_from(depth).unwrap_or(usize::MAX);
    }
    let entries = |entries: Argument<'_>| entries.integer(&MAX_ENTRIES);
    if let Some(entries) = options.optional(c"max_entries", "max_entries", entries)? {
        read.max_entries = usize::try_from(entries.get()).unwrap_or(usize::MAX);
    }
    let hidden = options.optional(c"include_hidden", "include_hidden", Argument::boolean)?;
    read.include_hidden = hidden.unwrap_or(read.include_hidden);
    let globs = |list: Argument<'_>| list.strings(MAX_GLOBS);
    if let Some(exclude) = options.optional(c"exclude", "exclude", globs)? {
        read.exclude = exclude;
    }
    let gitignore = options.optional(c"gitignore", "gitignore", Argument::boolean)?;
    read.gitignore = gitignore.unwrap_or(read.gitignore);
    Ok(read)
}

impl From<Tree> for TreeResult {
    fn from(tree: Tree) -> Self {
        Self {
            limit_reached: tree.limit_reached,
            scanned_entries: number(tree.node_count()),
            total_dirs: number(tree.total_dirs),
            total_files: number(tree.total_files),
            total_symlinks: number(tree.total_symlinks),
            root: tree.root.into(),
        }
    }
}

impl From<Node> for TreeNode {
    fn from(node: Node) -> Self {
        let (kind, truncated, children) = match node.content {
            Content::Folder(None) => ("directory", Some(true), None),
            Content::Folder(Some(children)) => {
                ("directory", None, Some(children.into_iter().map(Into::into).collect()))
            }
            Content::File => ("file", None, None),
            Content::Link => ("symlink", None, None),
        };
        Self {
            name: node.name.into(),
            path: node.path.into(),
            depth: u32::try_from(node.depth).unwrap_or(u32::MAX),
            kind,
            truncated,
            children,
        }
    }
}

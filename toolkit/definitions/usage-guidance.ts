// The texts for models about `workspace.read_file` (TUL-001 §2 and §3) and `read`, for the boot prompt.

/** When and how to use `workspace.read_file`, as Markdown. */
export const READ_SOURCE_USAGE_GUIDANCE = `## When to Use \`workspace.read_file\`

Call this tool when a snippet of a source document is not enough and you need the whole document.

- Give \`path\` the **DocPath** from the snippet's header, character by character, such as \`src/Billing/BillingService.cs\`. It is case-sensitive and is no path on a disk: do not shorten, complete or correct it.
- Do not give the **ChunkPath** (\`src/Billing/BillingService.cs#method:CalculateTaxes\`): it names the snippet, and no document.
- Give \`maxBytes\` only if the beginning of the document is enough. If \`isTruncated\` is true, the rest was left out.

## When *Not* to Use It

- The document is in the session's active files. The tool then answers \`ALREADY_IN_CONTEXT\`: use the content that you have.
- The file is in the user's workspace, and no snippet has named it: this tool reads source documents only.

## After a Failure

- \`NOT_FOUND\`: the document is not available. Do not guess another path; ask the user to upload it if you need it.
- \`INVALID_ARGUMENT\`: repair the call as the message says.
- \`INTERNAL_ERROR\`: try once more, then go on without the document.
`;

/** When and how to use `read`, as Markdown. */
export const READ_USAGE_GUIDANCE = `## When to Use \`read\`

Call this tool to read a text by its URI.

- \`file:///assets/brand.md\` is a file of the workspace: three slashes, then the path from its root.
- \`file:notes/project-a.md\` is a file of the current chat: no slash after the colon, then the path in the chat's files.
- A URI of another scheme, such as \`https://example.com/\`, is a remote page, where the host can reach it.

## How to Write the URI

- Always write the scheme: \`assets/brand.md\` alone is no URI.
- Write \`%20\` for a space and \`%25\` for a percent sign in \`file:\` URIs. Name no host: \`file://host/a.md\` is refused.
- The two forms are different files: \`file:///notes.md\` and \`file:notes.md\` have nothing to do with each other.

## After a Failure

- \`NOT_FOUND\`: check the scope (\`file:///\` or \`file:\`) and the spelling before you try again.
- \`NOT_TEXT\`: the file is no text, and this tool cannot show it.
- \`TOO_LARGE\`: the file is larger than this tool reads; it cannot be read in parts.
`;

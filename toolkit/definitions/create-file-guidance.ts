// The texts for models about `workspace_create_file`: TUL-004 §7, in the words of the specification.

/** The catalog description, TUL-004 §7.1, as Markdown. */
export const CREATE_FILE_CATALOG_TEXT = `**workspace_create_file**
Create a new file in the user’s workspace or fully replace an existing file when explicitly allowed.

**Inputs**
- \`path\` (string, required): Relative file path inside the workspace.
- \`content\` (string, required): Full text content of the file (UTF-8, no BOM, \`\\n\` line endings recommended).
- \`overwrite\` (bool, optional, default=false): Set to true if the file already exists and you intend to replace it.

**Behavior**
- Fails if the file exists and \`overwrite\` is false.
- Creates parent directories if they do not exist.
- Always writes the complete file content in a single operation.

**Output**
Returns whether the operation succeeded, the normalized path, file size in bytes, an integrity hash, and flags indicating whether the file was created or overwritten.
`;

/** When and how to use the tool, for the boot prompt: TUL-004 §7.2 to §7.6, as Markdown. */
export const CREATE_FILE_USAGE_GUIDANCE = `## When to Use \`workspace_create_file\`

The LLM **should** call this tool when:

- Creating new source files (implementations, services, models, etc.).
- Creating new test files associated with new or existing components/classes.
- Creating config, schema, or documentation files (e.g., \`.json\`, \`.yml\`, \`.md\`).
- Fully replacing an existing file when the new content is known and the replacement should be atomic.

## When *Not* to Use It

The LLM **must not** use this tool when:

- Modifying an existing file **in place** (use patch/edit tools instead).
- Appending content to an existing file.
- Attempting binary writes.
- Writing files outside the workspace root (these calls will fail).

## Required LLM Behaviors

When using TUL-004, the LLM must:

1. **Provide the full intended file content**
   - The tool writes the entire file in one operation.
   - No incremental or append-style writes are supported.

2. **Specify a correct relative path**
   - Include the appropriate directory structure, e.g. \`"src/Services/Foo.cs"\`.

3. **Use \`overwrite = true\` only when intentional**
   - Do not assume silent overwrites.
   - If unsure about whether a file exists or should be replaced, ask the user for guidance.

4. **Avoid paths that escape the workspace**
   - No absolute paths, no \`..\` to move above the workspace root.

5. **Never attempt edits via this tool**
   - Use patch tools for edits.
   - This tool is for creation and full replacement only.

## Workspace Awareness for Path Selection

The LLM is expected to receive **workspace structure context** via the boot/system prompt, including:

- A snapshot of the current workspace directory tree (truncated to a reasonable depth and excluding build artifacts such as \`bin\`, \`obj\`, \`node_modules\`, \`.git\`, \`dist\`).
- References to specific files/paths used during the conversation.

**Path selection rules:**

- Prefer **actual directories** from the workspace snapshot and known file paths over invented structure.
- Use existing patterns where present, e.g.:
  - .NET sources under \`src/ProjectName/...\`.
  - .NET tests under \`tests/ProjectName.Tests/...\`.
  - Angular app views under \`apps/design-playground/src/app/views/...\`.
  - Angular libraries under \`libs/primitives/src/lib/...\`.
- Place related files near each other:
  - Implementation and tests in corresponding \`src\`/\`tests\` projects.
  - New services alongside existing services in the same project.
- Only introduce new directories when there is no suitable existing directory that matches the conventions.

## Ask vs. Act Rule (Ambiguity Handling)

- If the LLM can **clearly determine an appropriate path** using:
  - The workspace snapshot,
  - Known related files,
  - And/or explicit user instructions,

  then it should **issue the \`workspace_create_file\` tool call directly** using that path.

- If there are **multiple plausible locations** and the correct one is not clear (e.g., similar projects, ambiguous module ownership):
  - The LLM should **ask the user a brief, targeted question** to clarify where the file should live **before** calling the tool.

> Note: The client side will still gate tool execution with a human in the loop, but the LLM is expected to minimize ambiguity by asking when path placement is unclear and acting directly when it is clearly determined.
`;

// Selects the tools that an adapter lists, and replaces descriptions by the host's own.

import type { ToolDefinition, ToolDescription } from "../definitions/tool.js";
import { isToolName, TOOL_DESCRIPTIONS, TOOL_NAMES, type ToolName } from "../definitions/tools.js";
import { ownOf } from "../own.js";

/** The tools that an adapter lists. */
export interface ToolSelection {
  /**
   * Names or descriptions. Default: all of ringfence's tools. Pass `toolkit.getToolDescriptions()` for the allowed
   * tools, which include the host's own. An unknown name is a `TypeError`.
   */
  tools?: readonly (ToolName | ToolDescription)[] | null;
  /** Descriptions for models that replace the tools' own, by tool name. */
  descriptions?: { readonly [Name in ToolName | (string & {})]?: string } | null;
}

/** The descriptions of a selection: ringfence's in their order, then the host's own. */
export function describe(selection: ToolSelection | null | undefined): ToolDescription[] {
  const wanted = (givenTools(selection) ?? TOOL_NAMES).map(descriptionOf);
  const names = new Set(wanted.map(({ definition }) => definition.name));
  const ours = TOOL_NAMES.filter((name) => names.has(name)).map((name) => TOOL_DESCRIPTIONS[name]);
  const own = new Map(
    wanted
      .filter(({ definition }) => !isToolName(definition.name))
      .map((tool) => [tool.definition.name, tool]),
  );
  return described([...ours, ...own.values()], ownOf(selection, "descriptions"));
}

/** The option `tools`; `null` if it is absent. Throws a `TypeError` if a toolkit or another value came in its place. */
export function givenTools<Tool>(
  selection: { tools?: readonly Tool[] | null } | null | undefined,
): readonly Tool[] | null {
  const isSelection =
    selection == null || (typeof selection === "object" && !Array.isArray(selection));
  const tools: unknown = isSelection ? (ownOf(selection, "tools") ?? null) : selection;
  if (isSelection && (tools === null || Array.isArray(tools)))
    return tools as readonly Tool[] | null;
  throw new TypeError(
    "tools must be an array of names or descriptions of tools: give { tools: toolkit.getToolDescriptions() }",
  );
}

/** Their definitions. */
export function selected(selection: ToolSelection | null | undefined): ToolDefinition[] {
  return describe(selection).map(({ definition }) => definition);
}

function descriptionOf(tool: ToolName | ToolDescription): ToolDescription {
  if (isToolName(tool)) return TOOL_DESCRIPTIONS[tool];
  if (typeof tool === "object" && typeof tool?.definition?.name === "string") return tool;
  const given = typeof tool === "string" ? JSON.stringify(tool) : `a value of type ${typeof tool}`;
  throw new TypeError(
    `tools: there is no tool ${given}; give ${TOOL_NAMES.join(", ")}, or the description of a tool of your own`,
  );
}

/** The tools, with the host's descriptions. */
function described(
  tools: ToolDescription[],
  descriptions: ToolSelection["descriptions"],
): ToolDescription[] {
  if (descriptions === undefined || descriptions === null) return tools;
  for (const name of Object.keys(descriptions)) {
    // A description of one of ringfence's tools is allowed even if that tool is not selected.
    if (!isToolName(name)) assertNamed("descriptions", name, tools);
  }
  return tools.map((tool) => {
    const { name } = tool.definition;
    if (!Object.hasOwn(descriptions, name)) return tool;
    const description = descriptions[name];
    if (description === undefined) return tool;
    if (typeof description !== "string") {
      throw new TypeError(`descriptions: the description of ${name} must be a string`);
    }
    return { ...tool, definition: { ...tool.definition, description } };
  });
}

/** Throws a `TypeError` if a key of an option is not the name of a tool. */
export function assertNamed(option: string, name: string, tools: readonly ToolDescription[]): void {
  if (tools.some(({ definition }) => definition.name === name)) return;
  const names = tools.map(({ definition }) => definition.name).join(", ");
  throw new TypeError(
    `${option}: there is no tool ${JSON.stringify(name)}; the tools are ${names}`,
  );
}

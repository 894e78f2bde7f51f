// `node:diagnostics_channel`, if the runtime has it. Edge runtimes and browsers import the definitions, too,
// and do not have it. Therefore the module is requested at run time (`process.getBuiltinModule`, Node 20.16),
// not by an import.

interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}

const SILENT: Channel = { hasSubscribers: false, publish: () => {} };

/** The channel of this name, or one without subscribers if the runtime has no channels. */
export function channel(name: string): Channel {
  try {
    const diagnostics = globalThis.process?.getBuiltinModule?.("node:diagnostics_channel");
    return diagnostics?.channel(name) ?? SILENT;
  } catch {
    return SILENT; // The edge runtime of Next.js throws on access to `process.getBuiltinModule`.
  }
}

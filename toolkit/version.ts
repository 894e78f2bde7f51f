/** The version of the package. */
export const { version: VERSION } = require("../package.json") as { version: string };

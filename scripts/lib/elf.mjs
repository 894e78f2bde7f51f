// @ts-check
// What an addon for Linux asks of the system, read from the file itself (ELF, 64 bits, little endian):
// the checks need no binutils then.

import { readFileSync } from "node:fs";

const SECTIONS_AT = 0x28; // in the file's header
const SHT_GNU_VERNEED = 0x6ffffffe;

/**
 * The symbol versions that a library needs, such as `GLIBC_2.14`; none if it needs none.
 *
 * @param {string} file
 * @returns {string[]}
 */
export function neededVersions(file) {
  const bytes = readFileSync(file);
  const isElf64 = bytes.readUInt32BE(0) === 0x7f454c46 && bytes[4] === 2 && bytes[5] === 1;
  if (!isElf64) throw new Error(`${file} is not a library of 64-bit Linux`);
  const sections = sectionsOf(bytes);
  const needed = sections.find(({ type }) => type === SHT_GNU_VERNEED);
  if (needed === undefined) return [];
  const strings = sections[needed.link]?.offset ?? 0;

  /** @type {string[]} */
  const versions = [];
  let library = needed.offset;
  for (;;) {
    let version = library + bytes.readUInt32LE(library + 8);
    for (let left = bytes.readUInt16LE(library + 2); left > 0; left--) {
      const start = strings + bytes.readUInt32LE(version + 8);
      versions.push(bytes.toString("latin1", start, bytes.indexOf(0, start)));
      version += bytes.readUInt32LE(version + 12);
    }
    const next = bytes.readUInt32LE(library + 12);
    if (next === 0) return versions;
    library += next;
  }
}

/** @param {Buffer} bytes */
function sectionsOf(bytes) {
  const table = Number(bytes.readBigUInt64LE(SECTIONS_AT));
  const size = bytes.readUInt16LE(0x3a);
  const count = bytes.readUInt16LE(0x3c);
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * size;
    return {
      type: bytes.readUInt32LE(at + 4),
      offset: Number(bytes.readBigUInt64LE(at + 0x18)),
      link: bytes.readUInt32LE(at + 0x28),
    };
  });
}

/**
 * The versions of glibc among those a library needs that are newer than `limit`.
 *
 * @param {string} file
 * @param {readonly number[]} limit
 */
export function newerGlibc(file, [major = 0, minor = 0]) {
  return neededVersions(file).filter((version) => {
    const [, ofMajor, ofMinor] = /^GLIBC_(\d+)\.(\d+)/.exec(version) ?? [];
    if (ofMajor === undefined) return version.startsWith("GLIBC_");
    return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) > minor);
  });
}

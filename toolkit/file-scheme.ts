// Recognises `file:` URIs, disguised ones too.

/**
 * Whether any program may take the text for a `file:` URI. URL parsers drop control characters and spaces
 * before the scheme, and tabs and newlines in it. Hosts trim more. Bun's fetch would read such a URI from
 * the disk, so it goes to `readFileUri`, which refuses the disguised forms.
 */
export function isFileUri(text: string): boolean {
  return /^file:/i.test(text.replace(/[\s\p{Cc}\p{Cf}]/gu, ""));
}

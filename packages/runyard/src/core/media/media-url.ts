/** What a URL of media leads to: an address, or bytes that it carries itself. Undefined: neither. */
export type MediaUrl = { readonly url: string } | { readonly mimeType: string; readonly base64: string };

export function readMediaUrl(url: string): MediaUrl | undefined {
  const [, mimeType, , base64] = /^data:([^;,]*)(;[^,]*)?;base64,([\s\S]*)$/.exec(url) ?? [];
  if (mimeType !== undefined && base64 !== undefined) return { mimeType, base64 };
  return /^https?:\/\/[^\s]+$/.test(url) && URL.canParse(url) ? { url } : undefined;
}

export const mediaUrlRule = 'the url must begin with http://, https:// or data:…;base64,';

/** In either alphabet, with or without padding and line breaks; undefined for another text. */
export function fromBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/\s+/g, '');
  if (compact.length % 4 === 1 || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) return undefined;
  return Buffer.from(compact, 'base64');
}

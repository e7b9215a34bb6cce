import { ContentUnreadable } from './reader.js';

/** How much of a text is looked at when its first byte beyond ASCII decides how it is encoded. */
const sampleBytes = 65_536;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it names all of ASCII
const beyondAscii = /[^\x00-\x7f]/;

type Decoder = InstanceType<typeof TextDecoder>;

/**
 * The characters of a text, in pieces. A byte order mark decides the encoding; without one it is UTF-8, or Windows-1252
 * where the bytes are no UTF-8 and look like text. Throws for everything else.
 */
export async function* decodedText(bytes: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  let decoder: Decoder | undefined;
  let waiting: Uint8Array = new Uint8Array(0);
  for await (const piece of bytes) {
    if (decoder !== undefined) {
      yield checked(decode(decoder, piece, true));
      continue;
    }
    waiting = waiting.length === 0 ? piece : joined(waiting, piece);
    if (waiting.length < 4) continue;
    const marked = byteOrderMark(waiting);
    // as long as there is nothing but ASCII, every encoding is the same
    const text = western(waiting);
    const first = marked === undefined ? text.search(beyondAscii) : 0;
    if (first < 0) {
      yield checked(text);
      waiting = new Uint8Array(0);
    } else if (marked !== undefined || waiting.length - first >= sampleBytes) {
      decoder = decoderOf(marked ?? encodingOf(waiting, first, false));
      yield checked(decode(decoder, waiting, true));
      waiting = new Uint8Array(0);
    }
  }
  if (decoder === undefined && waiting.length > 0) {
    const first = western(waiting).search(beyondAscii);
    decoder = decoderOf(byteOrderMark(waiting) ?? (first < 0 ? 'utf-8' : encodingOf(waiting, first, true)));
    yield checked(decode(decoder, waiting, true));
  }
  if (decoder !== undefined) yield checked(decode(decoder, new Uint8Array(0), false));
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined;
}

function encodingOf(bytes: Uint8Array, first: number, whole: boolean): string {
  const sample = bytes.subarray(first);
  try {
    // a character that the sample cuts in two is no fault
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: !whole });
    return 'utf-8';
  } catch {
    return plausibleWindows1252(sample) ? 'windows-1252' : unreadable();
  }
}

/** Western text has letters around its accents, few of them, and neither control characters nor unassigned ones. */
function plausibleWindows1252(sample: Uint8Array): boolean {
  let high = 0;
  for (const byte of sample) {
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13) return false;
    if (byte === 0x7f || byte === 0x81 || byte === 0x8d || byte === 0x8f || byte === 0x90 || byte === 0x9d)
      return false;
    if (byte > 127) high += 1;
  }
  return high <= sample.length * 0.4 || high === 1;
}

function decoderOf(encoding: string): Decoder {
  return new TextDecoder(encoding, { fatal: encoding !== 'windows-1252' });
}

function decode(decoder: Decoder, bytes: Uint8Array, stream: boolean): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch (error) {
    throw new ContentUnreadable(undefined, { cause: error });
  }
}

/** One character for each byte; those of ASCII are themselves. */
function western(bytes: Uint8Array): string {
  return new TextDecoder('windows-1252').decode(bytes);
}

/** No text has NUL characters, whatever its encoding. */
function checked(text: string): string {
  return text.includes('\0') ? unreadable() : text;
}

function unreadable(): never {
  throw new ContentUnreadable();
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

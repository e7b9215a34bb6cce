import type { BodySource } from './body-source.js';
import {
  delimiterOf,
  headerEnd,
  type MultipartLimits,
  malformed,
  maxHeaderBytes,
  PartCounts,
  type PartHeaders,
  readHeaders,
} from './multipart.js';

/** Takes the parts of a form as they arrive, in their order. */
export interface StreamReceiver {
  addText(name: string, value: string): void;
  /** Called when the file begins. The next part follows when the promise has resolved. */
  addFile(name: string, filename: string, mimeType: string, bytes: AsyncIterable<Buffer>): Promise<void>;
}

/** What may stand between a boundary and the end of its line. */
const maxPadding = 256;

const dash = 0x2d;

/**
 * Reads a multipart body while it arrives. It holds the texts, which are bounded, and of the files what one read of the
 * socket brings: the next bytes are read when the receiver has taken the last ones.
 */
export async function streamMultipart(
  source: Pick<BodySource, 'next'>,
  contentType: string,
  limits: MultipartLimits,
  form: StreamReceiver,
): Promise<void> {
  const parts = new PartReader(source, delimiterOf(contentType));
  const counts = new PartCounts(limits);
  await parts.begin();
  for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
    if (part.filename === undefined) {
      counts.addField();
      form.addText(part.name, await parts.text(counts));
      continue;
    }
    const bytes = parts.bytes();
    const first = await bytes.next();
    // A browser sends a part with neither name nor bytes for a file input that was left empty.
    if (part.filename === '' && first.done) continue;
    counts.addFile();
    await form.addFile(part.name, part.filename, part.mimeType, following(first, bytes));
    // what the receiver did not take
    while (!(await bytes.next()).done);
  }
  // what stands after the closing boundary is ignored
  while ((await source.next()) !== undefined);
}

/** Finds the parts of a body in bytes that come piece by piece. */
class PartReader {
  /** What has been read and not yet taken. A boundary is found also at the very beginning. */
  #held: Buffer = Buffer.from('\r\n');

  constructor(
    private readonly source: Pick<BodySource, 'next'>,
    private readonly delimiter: Buffer,
  ) {}

  /** Passes the preamble. */
  async begin(): Promise<void> {
    const preamble = this.#until('the boundary that the content type names is not in the body');
    while (!(await preamble.next()).done);
  }

  /** The headers of the next part; undefined after the last. */
  async next(): Promise<PartHeaders | undefined> {
    while (this.#held.length < 2) await this.#more('the body ends inside the headers of a part');
    if (this.#held[0] === dash && this.#held[1] === dash) return undefined;
    for (;;) {
      const end = this.#held.indexOf(headerEnd, 0, 'latin1');
      if (end > maxHeaderBytes || (end === -1 && this.#held.length > maxHeaderBytes))
        throw malformed('the headers of a part are too long');
      if (end === -1) {
        await this.#more('the body ends inside the headers of a part');
        continue;
      }
      const part = readHeaders(this.#held.toString('latin1', 0, end + 2));
      this.#held = this.#held.subarray(end + headerEnd.length);
      return part;
    }
  }

  /** The bytes of the part. */
  bytes(): AsyncGenerator<Buffer, void, void> {
    return this.#until('the body ends before its closing boundary');
  }

  /** The text of the part. */
  async text(counts: PartCounts): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of this.bytes()) {
      counts.addText(piece.length);
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('utf8');
  }

  /** Everything before the next delimiter. When it has ended, the delimiter is passed. */
  async *#until(missing: string): AsyncGenerator<Buffer, void, void> {
    const { delimiter } = this;
    for (let from = 0; ; ) {
      const at = this.#held.indexOf(delimiter, from);
      if (at === -1) {
        // its beginning may be at the end of what has come
        const safe = this.#held.length - delimiter.length + 1;
        if (safe > 0) {
          yield this.#held.subarray(0, safe);
          this.#held = this.#held.subarray(safe);
        }
        from = 0;
        await this.#more(missing);
        continue;
      }
      const closes = closesLine(this.#held, at + delimiter.length);
      if (closes === undefined) {
        from = at;
        await this.#more(missing);
      } else if (closes) {
        if (at > 0) yield this.#held.subarray(0, at);
        this.#held = this.#held.subarray(at + delimiter.length);
        return;
      } else from = at + 1;
    }
  }

  async #more(missing: string): Promise<void> {
    const piece = await this.source.next();
    if (piece === undefined) throw malformed(missing);
    this.#held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
  }
}

/** Whether a delimiter really ends here, and is not the beginning of a longer text; undefined: not enough has come. */
function closesLine(held: Buffer, at: number): boolean | undefined {
  let end = at;
  while (held[end] === 0x20 || held[end] === 0x09) end += 1;
  if (end - at > maxPadding) return false;
  if (end + 2 > held.length) return undefined;
  if (end === at && held[end] === dash && held[end + 1] === dash) return true;
  return held[end] === 0x0d && held[end + 1] === 0x0a;
}

async function* following(
  first: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer, void, void>,
): AsyncGenerator<Buffer, void, void> {
  if (first.done) return;
  yield first.value;
  // without closing it: what is left is read by the form
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

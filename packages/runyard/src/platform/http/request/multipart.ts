import { errors, type RunyardError } from '../../../core/errors/errors.js';
import type { HttpSettings } from '../settings.js';
import { describeBytes } from './body.js';

/** Takes the parts of a form, in their order. */
export interface PartReceiver {
  addText(name: string, value: string): void;
  /** `bytes` is a view of the body, not a copy. */
  addFile(name: string, filename: string, mimeType: string, bytes: Uint8Array): void;
}

/** Bounds what a form consists of, while its parts are found. */
export class PartCounts {
  #fields = 0;
  #files = 0;
  #textBytes = 0;

  constructor(private readonly limits: MultipartLimits) {}

  addField(): void {
    const { maxFields } = this.limits;
    if (++this.#fields > maxFields) throw tooMany('fields', maxFields, 'maxFields');
  }

  addFile(): void {
    const { maxFiles } = this.limits;
    if (++this.#files > maxFiles) throw tooMany('files', maxFiles, 'maxFiles');
  }

  addText(bytes: number): void {
    const { maxBodyBytes } = this.limits;
    this.#textBytes += bytes;
    if (this.#textBytes > maxBodyBytes)
      throw errors.payloadTooLarge('The text of the form', describeBytes(maxBodyBytes), 'maxBodyBytes');
  }
}

export type MultipartLimits = Pick<HttpSettings, 'maxBodyBytes' | 'maxFiles' | 'maxFields'>;

export const headerEnd = Buffer.from('\r\n\r\n');
export const maxHeaderBytes = 16_384;
const dash = 0x2d;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

/**
 * Reads a whole multipart body and hands every part to `form`, in order. The body is in memory and bounded
 * already, so each part is found by one search for the boundary and files are not copied.
 */
export function parseMultipart(
  body: Buffer,
  contentType: string,
  limits: MultipartLimits,
  form: PartReceiver,
): void {
  const delimiter = delimiterOf(contentType);
  let at = firstDelimiter(body, delimiter);
  const counts = new PartCounts(limits);
  for (;;) {
    if (body[at] === dash && body[at + 1] === dash) return;
    const end = body.indexOf(headerEnd, at, 'latin1');
    if (end === -1 || end - at > maxHeaderBytes) {
      throw malformed(
        end === -1 ? 'the body ends inside the headers of a part' : 'the headers of a part are too long',
      );
    }
    const part = readHeaders(body.toString('latin1', at, end + 2));
    const start = end + headerEnd.length;
    const next = nextDelimiter(body, delimiter, start);
    if (next === -1) throw malformed('the body ends before its closing boundary');
    if (part.filename === undefined) {
      counts.addField();
      counts.addText(next - start);
      form.addText(part.name, body.toString('utf8', start, next));
    } else if (part.filename !== '' || next > start) {
      // A browser sends a part with neither name nor bytes for a file input that was left empty.
      counts.addFile();
      form.addFile(part.name, part.filename, part.mimeType, body.subarray(start, next));
    }
    at = next + delimiter.length;
  }
}

export function delimiterOf(contentType: string): Buffer {
  return Buffer.from(`\r\n--${boundaryOf(contentType)}`, 'latin1');
}

function boundaryOf(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (!boundary) throw malformed('the content type names no boundary');
  return boundary;
}

/** The position after the first delimiter. It stands at the start, or after a preamble, which is ignored. */
function firstDelimiter(body: Buffer, delimiter: Buffer): number {
  const length = delimiter.length - 2;
  if (body.subarray(0, length).equals(delimiter.subarray(2)) && closesLine(body, length)) return length;
  const at = nextDelimiter(body, delimiter, 0);
  if (at === -1) throw malformed('the boundary that the content type names is not in the body');
  return at + delimiter.length;
}

function nextDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  let at = body.indexOf(delimiter, from);
  while (at !== -1 && !closesLine(body, at + delimiter.length)) at = body.indexOf(delimiter, at + 1);
  return at;
}

/** Whether a delimiter really ends here, and is not the beginning of a longer text that looks like it. */
function closesLine(body: Buffer, at: number): boolean {
  if (body[at] === dash && body[at + 1] === dash) return true;
  let end = at;
  while (body[end] === 0x20 || body[end] === 0x09) end++;
  return body[end] === carriageReturn && body[end + 1] === lineFeed;
}

export interface PartHeaders {
  readonly name: string;
  /** Undefined for a text field. */
  readonly filename: string | undefined;
  readonly mimeType: string;
}

export function readHeaders(block: string): PartHeaders {
  const disposition = /\r\ncontent-disposition:[ \t]*form-data[ \t]*(;[^\r\n]*)/i.exec(block)?.[1];
  if (disposition === undefined) throw malformed('a part has no content-disposition of type form-data');
  let name: string | undefined;
  let filename: string | undefined;
  let extended: string | undefined;
  for (const [, key, quoted, plain] of disposition.matchAll(parameterPattern)) {
    const value = quoted ?? plain ?? '';
    if (key === 'name') name = decodeName(value);
    else if (key === 'filename') filename = decodeName(value);
    else if (key === 'filename*') extended = decodeExtended(value);
  }
  if (name === undefined) throw malformed('a part has no name');
  filename = extended ?? filename;
  if (filename === undefined) return { name, filename, mimeType: '' };
  const type = /\r\ncontent-type:[ \t]*([^\r\n;]*)/i.exec(block)?.[1] ?? '';
  return { name, filename, mimeType: type.trim().toLowerCase() };
}

const parameterPattern = /;[ \t]*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

/** Headers were read byte by byte; names are UTF-8. Browsers write a quote as %22, older clients as \". */
function decodeName(raw: string): string {
  if (/^[\w.-]*$/.test(raw)) return raw;
  return Buffer.from(raw, 'latin1')
    .toString('utf8')
    .replace(/\\(["\\])/g, '$1')
    .replace(/%22/g, '"')
    .replace(/%0D/gi, '\r')
    .replace(/%0A/gi, '\n');
}

/** `filename*=UTF-8''…`, which wins over the plain parameter. */
function decodeExtended(raw: string): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(raw)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function tooMany(what: string, bound: number, setting: string): RunyardError {
  return errors.payloadTooLarge(`The number of ${what} in the form`, String(bound), setting);
}

export function malformed(text: string): RunyardError {
  return errors.invalidRequest([
    {
      type: 'value_error',
      loc: ['body'],
      msg: `Value error, this is not a valid multipart body: ${text}`,
      input: null,
      ctx: { error: {} },
    },
  ]);
}

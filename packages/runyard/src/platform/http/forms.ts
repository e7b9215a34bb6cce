import { parse as parseQuery } from 'node:querystring';
import { errors } from '../../core/errors.js';
import { type BodyLimit, hasBody, mediaType, readBody } from './body.js';
import type { Exchange } from './exchange.js';
import { type PartReceiver, parseMultipart } from './multipart.js';
import type { HttpSettings } from './settings.js';

/** A file that came with a form. */
export class UploadedFile {
  constructor(
    readonly filename: string,
    /** As the client named it, without parameters; empty when it did not. */
    readonly mimeType: string,
    readonly bytes: Uint8Array,
  ) {}

  get size(): number {
    return this.bytes.byteLength;
  }

  /** Error bodies show what was sent; never the bytes. */
  toJSON(): object {
    return { filename: this.filename, mime_type: this.mimeType, size: this.size };
  }
}

export type FormEntry = string | UploadedFile;

/** The fields of a form. An empty value counts as not sent; only repeatable fields are lists. */
export type FormFields = Record<string, FormEntry | FormEntry[]>;

export const formContentTypes = ['multipart/form-data', 'application/x-www-form-urlencoded'] as const;

/** Reads the form of a request in either content type. */
export async function readForm(
  exchange: Exchange,
  repeatable: ReadonlySet<string>,
  settings: HttpSettings,
): Promise<FormFields> {
  const header = exchange.request.headers['content-type'];
  const form = new FormBuilder(repeatable);
  switch (mediaType(header)) {
    case 'application/x-www-form-urlencoded': {
      const limit: BodyLimit = { bytes: settings.maxBodyBytes, setting: 'maxBodyBytes' };
      parseUrlencoded((await readBody(exchange, limit)).toString(), settings.maxFields, form);
      return form.fields;
    }
    case 'multipart/form-data': {
      const limit: BodyLimit = { bytes: settings.maxUploadBytes, setting: 'maxUploadBytes' };
      parseMultipart(await readBody(exchange, limit), header ?? '', settings, form);
      return form.fields;
    }
    default:
      if (header === undefined && !hasBody(exchange)) return form.fields;
      throw errors.unsupportedMediaType(header ?? '', formContentTypes);
  }
}

function parseUrlencoded(text: string, maxFields: number, form: FormBuilder): void {
  // One more than allowed is read, so that too many are noticed and never silently cut off.
  const fields = parseQuery(text, '&', '=', { maxKeys: maxFields + 1 });
  let count = 0;
  for (const name in fields) {
    const value = fields[name] as string | string[];
    if (typeof value === 'string') {
      count++;
      form.addText(name, value);
    } else {
      count += value.length;
      for (const item of value) form.addText(name, item);
    }
  }
  if (count > maxFields) {
    throw errors.payloadTooLarge('The number of fields in the form', String(maxFields), 'maxFields');
  }
}

class FormBuilder implements PartReceiver {
  readonly fields: FormFields = Object.create(null) as FormFields;

  constructor(private readonly repeatable: ReadonlySet<string>) {}

  addText(name: string, value: string): void {
    this.#add(name, value);
  }

  addFile(name: string, filename: string, mimeType: string, bytes: Uint8Array): void {
    this.#add(name, new UploadedFile(filename, mimeType, bytes));
  }

  #add(name: string, value: FormEntry): void {
    if (!this.repeatable.has(name)) {
      // The last of several wins, and an empty one takes the earlier ones back.
      if (value === '') delete this.fields[name];
      else this.fields[name] = value;
      return;
    }
    if (value === '') return;
    const list = this.fields[name];
    if (Array.isArray(list)) list.push(value);
    else this.fields[name] = [value];
  }
}

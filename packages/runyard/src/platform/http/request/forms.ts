import { unescape as unescapeLeniently } from 'node:querystring';
import { errors } from '../../../core/errors/errors.js';
import type { Exchange } from '../exchange.js';
import type { HttpSettings } from '../settings.js';
import { type BodyLimit, hasBody, mediaType, readBody } from './body.js';
import { BodySource } from './body-source.js';
import { longestFieldName } from './fields.js';
import { checkCharset, type JsonForms, parseJsonForm } from './json-body.js';
import { type PartReceiver, parseMultipart } from './multipart.js';
import { streamMultipart } from './multipart-stream.js';
import type { StreamedFile, StreamedFiles } from './streamed-file.js';
import { UploadedFile } from './uploaded-file.js';

type FormEntry = string | UploadedFile | StreamedFile;

/** The fields of a form. An empty value counts as not sent; only repeatable fields are lists. */
type FormFields = Record<string, FormEntry | FormEntry[]>;

export const formContentTypes = [
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'application/json',
] as const;

/** Reads the form of a request in either content type, or the equivalent JSON. */
export async function readForm(
  exchange: Exchange,
  repeatable: ReadonlySet<string>,
  jsonForms: JsonForms,
  settings: HttpSettings,
): Promise<Record<string, unknown>> {
  const header = exchange.request.headers['content-type'];
  const form = new FormBuilder(repeatable);
  switch (mediaType(header)) {
    case 'application/x-www-form-urlencoded': {
      const limit: BodyLimit = { bytes: settings.maxBodyBytes, setting: 'maxBodyBytes' };
      const text = (await readBody(exchange, limit)).toString();
      if (isJson(text)) throw errors.invalidRequest([jsonAsForm]);
      parseUrlencoded(text, settings.maxFields, form);
      return form.fields;
    }
    case 'application/json': {
      checkCharset(header);
      const limit: BodyLimit = { bytes: settings.maxBodyBytes, setting: 'maxBodyBytes' };
      return jsonForms.fieldsOf(parseJsonForm(await readBody(exchange, limit), settings.maxFields));
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

/** What `curl -d` and many clients send when nothing names the type of the body. */
const jsonAsForm = {
  type: 'json_as_form',
  loc: ['body'],
  msg: 'The body is JSON, but its content type is application/x-www-form-urlencoded. Send it with the header Content-Type: application/json',
  input: null,
};

function isJson(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parseUrlencoded(text: string, maxFields: number, form: FormBuilder): void {
  let count = 0;
  let start = 0;
  while (start < text.length) {
    const next = text.indexOf('&', start);
    const end = next === -1 ? text.length : next;
    if (end > start) {
      if (++count > maxFields) {
        throw errors.payloadTooLarge('The number of fields in the form', String(maxFields), 'maxFields');
      }
      const pair = text.slice(start, end);
      const equals = pair.indexOf('=');
      const nameEnd = equals === -1 ? pair.length : equals;
      form.addText(decode(pair.slice(0, nameEnd)), decode(pair.slice(nameEnd + 1)));
    }
    start = end + 1;
  }
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    // Broken escapes stay as they are, as browsers read them.
    return unescapeLeniently(spaced);
  }
}

/** Reads a form whose files are stored while they arrive; one without files is read like any other. */
export async function readStreamedForm(
  exchange: Exchange,
  fields: { readonly repeatable: ReadonlySet<string>; readonly files: ReadonlySet<string> },
  jsonForms: JsonForms,
  settings: HttpSettings,
  files: StreamedFiles,
): Promise<Record<string, unknown>> {
  const { repeatable } = fields;
  const header = exchange.request.headers['content-type'];
  if (mediaType(header) !== 'multipart/form-data') return readForm(exchange, repeatable, jsonForms, settings);
  const form = new FormBuilder(repeatable);
  const limit: BodyLimit = { bytes: settings.maxStreamedBytes, setting: 'maxStreamedBytes' };
  const source = new BodySource(exchange, limit);
  try {
    await streamMultipart(source, header ?? '', settings, {
      addText: (name, value) => form.addText(name, value),
      addFile: async (name, filename, mimeType, bytes) => {
        // what no field is for is not stored
        if (fields.files.has(name)) form.add(name, await files.receive(filename, mimeType, bytes));
      },
    });
  } finally {
    source.close();
  }
  return form.fields;
}

class FormBuilder implements PartReceiver {
  readonly fields: FormFields = Object.create(null);

  constructor(private readonly repeatable: ReadonlySet<string>) {}

  addText(name: string, value: string): void {
    this.add(name, value);
  }

  addFile(name: string, filename: string, mimeType: string, bytes: Uint8Array): void {
    this.add(name, new UploadedFile(filename, mimeType, bytes));
  }

  add(name: string, value: FormEntry): void {
    // no field has this name, and copying it would replace the prototype
    if (name === '__proto__') return;
    if (name.length > longestFieldName)
      throw errors.payloadTooLarge('The name of a form field', `${longestFieldName} characters`);
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

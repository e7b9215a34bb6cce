import type { Fields } from './workspace.js';

/** Slack takes the bytes of a file as they are, and as a field of a form. */
export async function fileIn(body: Buffer, type: string): Promise<Buffer> {
  if (!type.startsWith('multipart/form-data')) return body;
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const [file] = [...form.values()];
  return file instanceof Blob ? Buffer.from(await file.arrayBuffer()) : Buffer.from(file ?? '');
}

/** Fields of a form; lists and objects are JSON in them. */
export function fieldsIn(body: Buffer, type: string): Fields {
  if (type.startsWith('application/json')) return JSON.parse(body.toString());
  const entries = [...new URLSearchParams(body.toString())];
  return Object.fromEntries(
    entries.map(([name, value]) => [name, structured.has(name) ? parsed(value) : value]),
  );
}

const structured = new Set([
  'chunks',
  'blocks',
  'prompts',
  'loading_messages',
  'files',
  'metadata',
  'attachments',
]);

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

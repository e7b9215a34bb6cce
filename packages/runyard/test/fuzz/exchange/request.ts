/** A request as it is thought of, before it becomes bytes: parts of it can be left out to find what matters. */
export interface FuzzRequest {
  readonly operationId: string;
  readonly method: string;
  readonly template: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly Pair[];
  readonly headers: readonly Pair[];
  readonly body: FuzzBody | null;
}

export type Pair = readonly [name: string, value: string];

export type FuzzBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'urlencoded'; readonly fields: readonly Pair[] }
  | { readonly kind: 'multipart'; readonly parts: readonly Part[] }
  | { readonly kind: 'raw'; readonly contentType: string; readonly text: string };

export interface Part {
  readonly name: string;
  readonly content: string;
  /** There is one for a file only. */
  readonly filename?: string;
  readonly contentType?: string;
}

/** What goes over the wire. */
export interface Wire {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly Pair[];
  readonly body: Buffer | null;
}

const boundary = 'fuzz-boundary-5d1f';

export function wireOf(request: FuzzRequest, token: string | null): Wire {
  const path = request.template.replace(/\{(\w+)\}/g, (_all, name: string) =>
    segment(request.path[name] ?? ''),
  );
  const query = request.query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
  const body = request.body === null ? null : bytesOf(request.body);
  return {
    method: request.method,
    target: query === '' ? path : `${path}?${query}`,
    headers: [
      ...request.headers.map(([name, value]) => [name, headerText(value)] as const),
      ...(body === null ? [] : [['content-type', headerText(body.contentType)] as const]),
      ...(token === null ? [] : [['authorization', headerText(`Bearer ${token}`)] as const]),
    ],
    body: body?.bytes ?? null,
  };
}

function bytesOf(body: FuzzBody): { contentType: string; bytes: Buffer } {
  if (body.kind === 'json')
    return { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(body.value) ?? '') };
  if (body.kind === 'raw') return { contentType: body.contentType, bytes: Buffer.from(body.text) };
  if (body.kind === 'urlencoded') {
    const text = body.fields.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
    return { contentType: 'application/x-www-form-urlencoded', bytes: Buffer.from(text) };
  }
  const text = body.parts.map(partText).join('');
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.from(`${text}--${boundary}--\r\n`),
  };
}

function partText({ name, content, filename, contentType }: Part): string {
  const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`;
  const type = contentType === undefined ? '' : `content-type: ${headerText(contentType)}\r\n`;
  return `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"${file}\r\n${type}\r\n${content}\r\n`;
}

/** As browsers escape names in the head of a part. */
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function encoded(text: string): string {
  // halves of a pair become U+FFFD, as in every UTF-8 text
  return encodeURIComponent(Buffer.from(text).toString());
}

/** A value in a path; an invalid escape is sent as it is. */
function segment(text: string): string {
  return /^%(zz|ff|00|2f)/i.test(text) ? text.slice(0, 3) : encoded(text);
}

/** Clients cannot send what is not allowed in a header. */
function headerText(text: string): string {
  return text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 8000);
}

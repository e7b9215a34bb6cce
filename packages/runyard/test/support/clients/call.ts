import { randomUUID } from 'node:crypto';
import { Agent, request as send } from 'node:http';

/** An answer whose body came to its end. */
export interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Connections are kept for the next request, as `fetch` does it. */
const agent = new Agent({ keepAlive: true });

/**
 * Sends a request and reads the whole answer. It costs a third of what `fetch` costs, and tests send tens of thousands;
 * `fetch` itself sends what is more than a text.
 */
export async function call(url: string, init: RequestInit = {}): Promise<Called> {
  const body = textOf(init.body);
  if (body === undefined) return called(await fetch(url, init));
  const headers = Object.fromEntries(new Headers(init.headers));
  if (body.text !== undefined) headers['content-length'] = String(Buffer.byteLength(body.text));
  if (body.type !== undefined) headers['content-type'] ??= body.type;
  return new Promise((resolve, reject) => {
    const signal = init.signal ?? undefined;
    const fail = (error: Error) => reject(signal?.aborted ? signal.reason : error);
    const sent = send(url, { method: init.method ?? 'GET', headers, agent, ...(signal && { signal }) });
    sent.on('error', fail);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        const text = new TextDecoder().decode(Buffer.concat(chunks));
        resolve({ status: response.statusCode!, headers: headersOf(response.rawHeaders), text });
      });
    });
    sent.end(body.text);
  });
}

export async function called(response: Response): Promise<Called> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at]!, raw[at + 1]!);
  return headers;
}

interface TextBody {
  readonly text?: string;
  readonly type?: string;
}

/** What a body is as text; undefined for one that holds files, or bytes. */
function textOf(body: RequestInit['body']): TextBody | undefined {
  if (body === undefined || body === null) return {};
  if (typeof body === 'string') return { text: body, type: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams)
    return { text: body.toString(), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  return body instanceof FormData ? multipartOf([...body]) : undefined;
}

function multipartOf(fields: readonly (readonly [string, unknown])[]): TextBody | undefined {
  const boundary = `----${randomUUID()}`;
  const parts: string[] = [];
  for (const [name, value] of fields) {
    if (typeof value !== 'string') return undefined;
    const plain = name.replace(/[\r\n"]/g, (unit) => encodeURIComponent(unit));
    parts.push(
      `--${boundary}\r\ncontent-disposition: form-data; name="${plain}"\r\n\r\n${value.replace(/\r?\n|\r/g, '\r\n')}\r\n`,
    );
  }
  return { text: `${parts.join('')}--${boundary}--\r\n`, type: `multipart/form-data; boundary=${boundary}` };
}

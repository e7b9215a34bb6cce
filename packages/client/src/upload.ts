import { NetworkError } from './errors.js';

export interface UploadProgress {
  /** Bytes that were sent. */
  readonly loaded: number;
  /** Bytes of the request. Outside of browsers: of its files. */
  readonly total: number;
}

export type ReportProgress = (progress: UploadProgress) => void;

/** A request whose body may be read several times. */
export interface Upload {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | FormData;
  readonly signal: AbortSignal | undefined;
}

/** `fetch` does not say how far an upload is. Browsers say it of an XMLHttpRequest; elsewhere the body is a stream. */
export function uploadWith(
  fetch: typeof globalThis.fetch,
  upload: Upload,
  report: ReportProgress,
): Promise<Response> {
  return typeof XMLHttpRequest === 'function'
    ? uploadInBrowser(upload, report)
    : uploadAsStream(fetch, upload, report);
}

function uploadInBrowser(
  { url, method, headers, body, signal }: Upload,
  report: ReportProgress,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => report({ loaded, total });
    request.onload = () => resolve(responseOf(request, url));
    request.onerror = () => reject(new NetworkError(`${method} ${url} failed`));
    request.onabort = () => reject(signal?.reason);
    request.onloadend = () => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort);
    request.send(body);
  });
}

function responseOf(request: XMLHttpRequest, url: string): Response {
  const { status, statusText, responseText, responseURL } = request;
  // redirects cannot be prevented here; their responses are refused as elsewhere
  if (responseURL !== new URL(url, location.href).href)
    return new Response(null, { status: 302, headers: { location: responseURL } });
  const headers = new Headers();
  // there are no lines if the service of another origin exposes no header
  for (const line of request.getAllResponseHeaders().split('\r\n').filter(Boolean)) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return new Response(status === 204 ? null : responseText, { status, statusText, headers });
}

function uploadAsStream(
  fetch: typeof globalThis.fetch,
  { url, body, headers, ...rest }: Upload,
  report: ReportProgress,
): Promise<Response> {
  const total = bytesIn(body);
  let loaded = 0;
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      report({ loaded: Math.min(loaded, total), total });
      controller.enqueue(chunk);
    },
  });
  // it chooses what separates the parts of a form
  const encoded = new Response(body);
  const type = headers['content-type'] ?? encoded.headers.get('content-type') ?? '';
  const stream = encoded.body?.pipeThrough(counter) ?? null;
  const redirect: RequestRedirect = 'manual';
  const sent = { headers: { ...headers, 'content-type': type }, body: stream, duplex: 'half', redirect };
  return fetch(url, { ...rest, ...sent });
}

function bytesIn(body: string | FormData): number {
  if (typeof body === 'string') return new Blob([body]).size;
  let bytes = 0;
  body.forEach((value) => {
    if (typeof value !== 'string') bytes += value.size;
  });
  return bytes;
}

import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface S3Double {
  readonly bucket: string;
  readonly files: Map<string, string>;
  secret: string;
  /** Of one answer. */
  pageSize: number;
  /** Called instead of the double where it returns true. */
  answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Verifies signatures and lists as S3 does. */
export function answerAsS3(double: S3Double, request: IncomingMessage, response: ServerResponse): void {
  if (double.answer?.(request, response)) return;
  const url = new URL(request.url!, 'http://x');
  const fail = (status: number, code: string) =>
    response
      .writeHead(status, { 'content-type': 'application/xml' })
      .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${double.secret}</Message></Error>`);
  if (!isSigned(request, double.secret)) return void fail(403, 'SignatureDoesNotMatch');
  const [bucket, ...rest] = url.pathname.slice(1).split('/').map(decodeURIComponent);
  if (bucket !== double.bucket) return void fail(404, 'NoSuchBucket');
  const key = rest.join('/');
  if (key === '') return void response.end(listing(double, url.searchParams));
  const file = double.files.get(key);
  if (file === undefined) return void fail(404, 'NoSuchKey');
  response.writeHead(200, {
    'content-length': Buffer.byteLength(file),
    'content-type': 'binary/octet-stream',
  });
  response.end(request.method === 'HEAD' ? undefined : file);
}

function listing({ files, pageSize }: S3Double, query: URLSearchParams): string {
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const entries = new Map<string, string>();
  for (const key of [...files.keys()].filter((one) => one.startsWith(prefix)).sort()) {
    const cut = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const shown = cut < 0 ? key : key.slice(0, cut + 1);
    const name = encodeURIComponent(shown).replaceAll('%20', '+');
    entries.set(
      shown,
      cut < 0
        ? `<Contents><Key>${name}</Key><Size>${Buffer.byteLength(files.get(key)!)}</Size><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>`
        : `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`,
    );
  }
  const begin = Number(query.get('continuation-token') ?? 0);
  const end = begin + pageSize;
  const more = end < entries.size;
  return `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType>${[...entries.values()].slice(begin, end).join('')}<IsTruncated>${more}</IsTruncated>${more ? `<NextContinuationToken>${end}</NextContinuationToken>` : ''}</ListBucketResult>`;
}

/** SigV4, written from its description and not with the library that signs. */
function isSigned(request: IncomingMessage, secret: string): boolean {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
      request.headers.authorization ?? '',
    );
  if (found === null || found[3] !== 'eu-west-1') return false;
  const [, , day, region, signedHeaders, signature] = found;
  const url = new URL(request.url!, 'http://x');
  const strict = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const path = url.pathname.split('/').map((part) => strict(decodeURIComponent(part)));
  const query = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) =>
      pair
        .split('=')
        .map((part) => strict(decodeURIComponent(part)))
        .join('='),
    )
    .sort();
  const headers = signedHeaders!
    .split(';')
    .map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const canonical = [
    request.method,
    path.join('/'),
    query.join('&'),
    headers.join(''),
    signedHeaders,
    request.headers['x-amz-content-sha256'],
  ].join('\n');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${secret}`, day!), region!));
  const scope = `${day}/${region}/s3/aws4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, digest].join('\n');
  return hmac(key, text).toString('hex') === signature;
}

import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { until } from '../until.js';

/** The JSON form of the OpenTelemetry protocol, as strict as a collector is, and a bit more. */
const nanoseconds = z.string().regex(/^\d{19}$/);
const scalar = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
]);
const value = z.union([scalar, z.strictObject({ arrayValue: z.strictObject({ values: z.array(scalar) }) })]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
const traceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/);
const spanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/);
const span = z.strictObject({
  traceId,
  spanId,
  parentSpanId: spanId.optional(),
  flags: z.int().min(0).max(0xffffffff),
  name: z.string().min(1),
  kind: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  events: z.array(z.strictObject({ timeUnixNano: nanoseconds, name: z.string(), attributes })).optional(),
  links: z.array(z.strictObject({ traceId, spanId, attributes })).optional(),
  status: z.strictObject({ code: z.literal([0, 1, 2]), message: z.string().optional() }),
});
const exportRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          spans: z.array(span).min(1),
        }),
      ),
    }),
  ),
});

export type ReceivedSpan = z.infer<typeof span>;

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly resource: Record<string, unknown>;
  readonly spans: readonly ReceivedSpan[];
}

/** How a request is answered: with a status and headers, or not at all. */
export type CollectorAnswer = {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

/** A collector on a port of its own, that stores and checks what it receives. */
export class Collector {
  readonly requests: ReceivedRequest[] = [];
  /** What was wrong with a request. */
  readonly faults: string[] = [];
  /** How the next requests are answered, in order; when there are none left, they are accepted. */
  readonly answers: (CollectorAnswer | 'silence')[] = [];
  private readonly held = new Set<ServerResponse>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async listen(port = 0): Promise<Collector> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const collector = new Collector(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () =>
        collector.take(request.url ?? '', request.headers, Buffer.concat(chunks), response),
      );
    });
    onTestFinished(() => collector.close());
    return collector;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get spans(): ReceivedSpan[] {
    return this.requests.flatMap(({ spans }) => spans);
  }

  spanNamed(name: string): ReceivedSpan {
    const found = this.spans.find((candidate) => candidate.name === name);
    if (!found) throw new Error(`No span ${name} among ${this.spans.map((one) => one.name).join(', ')}`);
    return found;
  }

  /** Waits until this many spans have come. */
  received(count: number): Promise<ReceivedSpan[]> {
    return until(`${count} spans have come`, () => this.spans.length >= count && this.spans);
  }

  close(): Promise<void> {
    for (const response of this.held) response.destroy();
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private take(path: string, headers: IncomingHttpHeaders, bytes: Buffer, response: ServerResponse): void {
    const answer = this.answers.shift() ?? { status: 200, body: '{"partialSuccess":{}}' };
    this.keep(path, headers, bytes);
    if (answer === 'silence') {
      this.held.add(response);
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body ?? '');
  }

  private keep(path: string, headers: IncomingHttpHeaders, bytes: Buffer): void {
    const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    if (headers['content-type'] !== 'application/json') this.faults.push(`type ${headers['content-type']}`);
    const parsed = exportRequest.safeParse(JSON.parse(text));
    if (!parsed.success) {
      this.faults.push(z.prettifyError(parsed.error));
      return;
    }
    const [first] = parsed.data.resourceSpans;
    const spans = first!.scopeSpans.flatMap((scope) => scope.spans);
    this.requests.push({ path, headers, resource: attributesOf(first!.resource), spans });
  }
}

/** Attributes as a record. */
export function attributesOf(from: { attributes: z.infer<typeof attributes> }): Record<string, unknown> {
  return Object.fromEntries(from.attributes.map(({ key, value: given }) => [key, plain(given)]));
}

function plain(given: z.infer<typeof value>): unknown {
  if ('arrayValue' in given) return given.arrayValue.values.map(plain);
  if ('intValue' in given) return Number(given.intValue);
  return Object.values(given)[0];
}

import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { patience } from '../../support/patience.js';
import type { Pair, Wire } from './request.js';

export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly contentType: string;
  readonly text: string;
}

/** A client that sends what others refuse to: any target, any header, any body. */
export class RawSender {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 32 });
  private readonly host: string;
  private readonly port: number;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.host = hostname;
    this.port = Number(port);
  }

  send({ method, target, headers, body }: Wire): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest({
        ...{ host: this.host, port: this.port, agent: this.agent },
        ...{ method, path: target, headers: headerMap(headers, body) },
        // with its stream to the end; nothing in the fuzzed yard takes a second
        signal: AbortSignal.timeout(patience()),
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response;
          const contentType = received['content-type'] ?? '';
          resolve({ status, headers: received, contentType, text: Buffer.concat(chunks).toString() });
        });
      });
      sent.end(body ?? undefined);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

function headerMap(headers: readonly Pair[], body: Buffer | null): Record<string, string[] | string> {
  const map: Record<string, string[] | string> = {};
  for (const [name, value] of headers) map[name] = value;
  if (body !== null) map['content-length'] = String(body.length);
  return map;
}

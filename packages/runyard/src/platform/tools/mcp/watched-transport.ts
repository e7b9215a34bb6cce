import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { streamEnded } from './failures.js';
import type { McpLibrary } from './library.js';

/** A server that is called over HTTP. */
export interface McpAddress {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Streamable HTTP. The client waits for the answer to a request until its time is up, also when the stream that was
 * to bring it has broken off; here such a request is answered with an error at once.
 */
export function watchedTransport({ client }: McpLibrary, { url, headers }: McpAddress): Transport {
  class WatchedTransport extends client.StreamableHTTPClientTransport {
    override send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
      return super.send(message, {
        ...options,
        onRequestStreamEnd: () => {
          options?.onRequestStreamEnd?.();
          this.#endRequest(message);
        },
      });
    }

    /** A caller that has had its answer no longer listens. */
    #endRequest(message: JSONRPCMessage): void {
      if (!('method' in message && 'id' in message)) return;
      const error = { code: streamEnded, message: 'the stream ended before the answer' };
      this.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
    }
  }
  return new WatchedTransport(new URL(url), { requestInit: { headers: { ...headers } } });
}

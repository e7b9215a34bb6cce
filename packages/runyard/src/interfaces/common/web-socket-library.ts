import { createRequire } from 'node:module';
import type * as WebSocketModule from 'ws';

/** Loaded with the first connection: with the parts of TLS that it needs, it takes a thirtieth of a start. */
export function webSocketLibrary(): typeof WebSocketModule {
  return createRequire(import.meta.url)('ws');
}

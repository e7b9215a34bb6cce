import { createRequire } from 'node:module';
import type * as WebSocketModule from 'ws';

/** Loaded with the first connection: a start would also load all of TLS for it. */
export function webSocketLibrary(): typeof WebSocketModule {
  return createRequire(import.meta.url)('ws');
}

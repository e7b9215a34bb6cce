import type { InterfaceEntry } from './interface.js';

/** All interfaces. To add one is to add its line. */
export const interfaces: readonly InterfaceEntry[] = [
  {
    isWanted: ({ websocket }) => websocket,
    load: async () => (await import('./websocket/interface.js')).webSocket,
  },
];

import type { Interface } from '../interface.js';
import { openWebSockets } from './endpoint.js';

export const webSocket: Interface = {
  name: 'websocket',
  open: ({ services, identities, settings, log }) =>
    openWebSockets({ runs: services.runs, identities, settings, log }),
};

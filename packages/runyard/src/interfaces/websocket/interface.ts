import { DefinedInterface, type Interface } from '../interface.js';
import { webSocketPaths } from './paths.js';

const endpoint: Interface = {
  name: 'websocket',
  open: async ({ services, identities, settings, log }) => {
    const { openWebSockets } = await import('./endpoint.js');
    return openWebSockets({ runs: services.runs, identities, settings, log });
  },
};

/** WebSocket endpoints for agents, teams and workflows. The setting `websocket` enables the same. */
export function webSocket(): DefinedInterface {
  return definition;
}

const definition = new DefinedInterface('websocket', '', async () => endpoint, {
  title: 'WebSocket',
  soughtAt: webSocketPaths.map(({ path }) => path),
});

import type { RunyardClient } from '@runyard/client';
import { useSyncExternalStore } from 'react';
import { type ConnectionState, connection, subscribeToConnection } from './connection.js';
import { allows } from './rights.js';

export function useConnection(): ConnectionState {
  return useSyncExternalStore(subscribeToConnection, connection);
}

export function useClient(): RunyardClient {
  return useConnection().client;
}

/** Whether the token may do this, such as `agents:run`. Unknown until the service has refused it: then true. */
export function useMay(): (scope: string) => boolean {
  const { claims } = useConnection();
  return (scope) => allows(claims?.scopes, scope);
}

import type { Executable } from '../runs/executable.js';
import type { RemoteService } from './remote-service.js';

/** What a component of another service is executed with. */
export interface RemoteSite {
  /** Its id there. */
  readonly id: string;
  readonly service: RemoteService;
  readonly forwardUser: boolean;
  readonly timeoutMs: number;
  readonly reconnectMs: number;
}

/** A component that another service executes. */
export interface RemoteComponent extends Executable {
  readonly remote: RemoteSite;
}

/** Whether another service executes the component: it has no model, no tools and no steps of its own. */
export function isRemote(component: object): component is RemoteComponent {
  return 'remote' in component;
}

const hour = 3_600_000;
const minute = 60_000;

export function remoteSite(
  options: { readonly forwardUser?: boolean; readonly timeoutMs?: number; readonly reconnectMs?: number },
  id: string,
  service: RemoteService,
): RemoteSite {
  const { forwardUser = false, timeoutMs = hour, reconnectMs = minute } = options;
  return { id, service, forwardUser, timeoutMs, reconnectMs };
}

/** What a journal has to fit. The service may move to another address while its runs wait. */
export function remoteStructure({ id }: RemoteSite): string[] {
  return ['remote', id];
}

/** A service whose adapter is loaded when it is first used. */
export function lazyService(address: string, load: () => Promise<RemoteService>): RemoteService {
  let loaded: Promise<RemoteService> | undefined;
  const service = () => {
    loaded ??= load();
    return loaded;
  };
  return {
    address,
    async *start(start, signal) {
      yield* (await service()).start(start, signal);
    },
    async *resume(ref, afterIndex, signal) {
      yield* (await service()).resume(ref, afterIndex, signal);
    },
    async *continue(ref, answers, signal) {
      yield* (await service()).continue(ref, answers, signal);
    },
    read: async (ref, signal) => (await service()).read(ref, signal),
    cancel: async (ref, signal) => (await service()).cancel(ref, signal),
  };
}

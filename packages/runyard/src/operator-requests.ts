import { checkValue } from './core/options/check-options.js';
import { kind } from './core/options/kinds.js';
import type { OpenService } from './open-service.js';

/** A request that the operator makes. */
export interface OperatorRequest extends RequestInit {
  /** Acts for this user. Left out: for no user. */
  readonly userId?: string | null;
}

const pathKind = kind(
  "a path that begins with '/'",
  (value) => typeof value === 'string' && value.startsWith('/'),
);
const userKind = kind(
  'a text that is not empty, or null',
  (value) => value === null || (typeof value === 'string' && value !== ''),
);

/** Calls of the operator to the routes of a service, within its process. */
export class OperatorRequests {
  #opened: Promise<OpenService> | null = null;

  /** `open` opens a service that takes up nothing. */
  constructor(private readonly open: () => Promise<OpenService>) {}

  /** `running` is the service of the process, if there is one. */
  async call(
    running: Promise<OpenService> | null,
    path: string,
    { userId = null, ...init }: OperatorRequest,
  ): Promise<Response> {
    checkValue('request()', 'the path', path, pathKind);
    checkValue('request()', 'userId', userId, userKind);
    const { ownCalls } = await (running ?? this.#opening());
    return ownCalls.call(ownCalls.operator(userId), path, init);
  }

  async close(): Promise<void> {
    const service = await this.#opened?.catch(() => null);
    this.#opened = null;
    await service?.close(0);
  }

  #opening(): Promise<OpenService> {
    // what could not be opened may be repaired by then: the next caller tries again
    this.#opened ??= this.open().catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }
}

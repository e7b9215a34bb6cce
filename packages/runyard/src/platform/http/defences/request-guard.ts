import type { IncomingMessage } from 'node:http';
import type { RunyardError } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import type { HttpSettings } from '../settings.js';
import type { ClientAddresses } from './client-address.js';
import { Cors, isPreflight } from './cors.js';
import { Hosts } from './hosts.js';
import { Origins } from './origins.js';
import { excessOf, repeatedHeaderOf } from './request-bounds.js';

type RequestGuardSettings = Pick<HttpSettings, 'host' | 'allowedHosts' | 'corsOrigins'>;

/** What is asked of every request before anything looks at what it is for, and by whom. */
export class RequestGuard {
  readonly cors: Cors;
  readonly #hosts: Hosts;
  readonly #origins: Origins;

  constructor(settings: RequestGuardSettings, addresses: ClientAddresses, log: Log) {
    this.#hosts = new Hosts(settings, log);
    this.#origins = new Origins(settings.corsOrigins, addresses, log);
    this.cors = new Cors(this.#origins);
  }

  /** Why a request is refused; undefined for the usual one. */
  refusalOf(request: IncomingMessage): RunyardError | undefined {
    return (
      this.#refusalOfAny(request) ?? (isHarmless(request) ? undefined : this.#origins.refusalOf(request))
    );
  }

  /** A page may open a WebSocket anywhere, and read what comes: being a GET does not make it harmless. */
  refusalOfUpgrade(request: IncomingMessage): RunyardError | undefined {
    return this.#refusalOfAny(request) ?? this.#origins.refusalOf(request);
  }

  #refusalOfAny(request: IncomingMessage): RunyardError | undefined {
    return excessOf(request) ?? repeatedHeaderOf(request) ?? this.#hosts.refusalOf(request);
  }
}

/** It changes nothing, and pages that may not read the answer do not get it. */
function isHarmless(request: IncomingMessage): boolean {
  return request.method === 'GET' || request.method === 'HEAD' || isPreflight(request);
}

import type { JsonObject } from '../json.js';
import type { Shape } from '../options/kind.js';
import {
  anyOf,
  callable,
  flag,
  json,
  kind,
  milliseconds,
  name,
  objectOf,
  recordOf,
  required,
  secret,
  text,
} from '../options/kinds.js';
import type { RunLimits } from '../runs/limits/run-limits.js';

/**
 * What a remote service gets as `Authorization: Bearer …`: the token, the environment variable that holds it, or a
 * function that is called for each request.
 */
export type RemoteToken = string | { readonly env: string } | (() => string | Promise<string>);

/** What every component at another service is defined by. */
export interface RemoteConnection {
  /** The address of the service, such as `https://billing.example.com`. */
  readonly url: string;
  readonly token?: RemoteToken;
  /** Sent with every request. Values are treated as secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long a run may take there before it fails with `remote_timeout` and is cancelled there. Default: one hour. */
  readonly timeoutMs?: number;
  /** For how long a service that cannot be reached is tried again. Default: one minute. */
  readonly reconnectMs?: number;
}

interface RemoteIdentity {
  readonly name?: string;
  readonly description?: string;
  /** Shown to the leader of a team. */
  readonly role?: string;
  readonly metadata?: JsonObject;
  /** How much a run may do before it ends with the error `limit_exceeded` and is cancelled there. */
  readonly limits?: Omit<RunLimits, 'turns'>;
  /** The id of the registered database that holds its sessions; the service's own when left out. */
  readonly database?: string;
}

/** An agent, a team or a workflow of another Runyard or AgentOS service. */
export interface RemoteOptions extends RemoteConnection, RemoteIdentity {
  /** Its id there, and here unless `localId` is given. */
  readonly id: string;
  readonly localId?: string;
  /** Names the user of the run to the remote service. Needs a token that may act for others there. Default `false`. */
  readonly forwardUser?: boolean;
}

/** An agent that speaks A2A. */
export interface A2aOptions extends RemoteConnection, RemoteIdentity {
  /** Its id here. */
  readonly id: string;
  /** Names the user of the run to the agent, in the metadata of its message. Default `false`. */
  readonly forwardUser?: boolean;
}

const address = kind(
  'a URL that begins with http:// or https:// and holds no credentials, query or fragment',
  (value) => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
    return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  },
);

const token = {
  ...anyOf(secret, objectOf<{ env: string }>({ env: required(name) }), callable),
  allowed: "a token, { env: 'NAME' }, or a function that returns a token",
  secret: true,
} as const;

const connectionShape: Shape<RemoteConnection> = {
  url: required({ ...address, secret: true }),
  token,
  headers: recordOf(secret),
  timeoutMs: milliseconds(1),
  reconnectMs: milliseconds(0),
};

const identityShape: Shape<RemoteIdentity> = {
  name: text,
  description: text,
  role: text,
  metadata: json,
  // the component that is made of them checks what it holds
  limits: json,
  database: text,
};

export const remoteOptions = objectOf<RemoteOptions>({
  ...connectionShape,
  ...identityShape,
  id: required(name),
  localId: name,
  forwardUser: flag,
});

export const a2aOptions = objectOf<A2aOptions>({
  ...connectionShape,
  ...identityShape,
  id: required(name),
  forwardUser: flag,
});

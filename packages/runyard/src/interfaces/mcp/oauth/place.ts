import type { IncomingHttpHeaders } from 'node:http';
import { errors } from '../../../core/errors/errors.js';

/** The addresses of the authorization server, as clients reach it. */
export interface Place {
  /** Without a slash at its end. */
  readonly base: string;
  readonly issuer: string;
  readonly resource: string;
  readonly resourceMetadata: string;
  readonly tokenEndpoint: string;
  /** Where the consent page is: cookies and forms are for this path. */
  readonly consentPath: string;
  readonly isSecure: boolean;
}

interface Reached {
  readonly headers: IncomingHttpHeaders;
  readonly basePath: string;
}

export const consentRoute = '/mcp-auth/consent';

const loopbackHost = /^(?:localhost|(?:[\w-]+\.)+localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d{1,5})?$/i;

/** Knows where the service is reached. What a request says of it counts only if it leads to the own machine. */
export class Places {
  readonly #fixed: Place | undefined;

  constructor(
    publicUrl: string | undefined,
    private readonly path: string,
  ) {
    this.#fixed = publicUrl === undefined ? undefined : placeAt(checkedUrl(publicUrl), path);
  }

  of({ headers, basePath }: Reached): Place {
    if (this.#fixed !== undefined) return this.#fixed;
    const { host } = headers;
    if (host === undefined || !loopbackHost.test(host)) throw errors.publicUrlMissing();
    return placeAt(`http://${host.toLowerCase()}${basePath}`, this.path);
  }

  /** As far as it is known without a request. */
  usual({ host, port }: { readonly host: string; readonly port: number }): Place | undefined {
    if (this.#fixed !== undefined) return this.#fixed;
    const named = host.includes(':') ? `[${host}]` : host;
    return loopbackHost.test(named) && port !== 0 ? placeAt(`http://${named}:${port}`, this.path) : undefined;
  }
}

/** Whether a service that listens there can be reached from other machines. */
export function isLoopbackListener(host: string): boolean {
  return loopbackHost.test(host.includes(':') ? `[${host}]` : host);
}

function placeAt(base: string, path: string): Place {
  const url = new URL(base);
  const folder = url.pathname.replace(/\/+$/, '');
  return {
    base,
    issuer: `${base}/`,
    resource: base + path,
    // below the own path, so that it is reached wherever a proxy mounts the service: clients take it as it is
    resourceMetadata: `${base}/.well-known/oauth-protected-resource${path}`,
    tokenEndpoint: `${base}/token`,
    consentPath: folder + consentRoute,
    isSecure: url.protocol === 'https:',
  };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!url || !isPlain || !(url.protocol === 'https:' || isLoopbackUrl(url)))
    throw errors.invalidConfig(
      'mcp(): oauth needs a publicUrl that begins with https://, such as https://agents.example.com, without query and fragment. Only a loopback address may begin with http://.',
    );
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function isLoopbackUrl({ protocol, host }: URL): boolean {
  return protocol === 'http:' && loopbackHost.test(host);
}

import { EventStream } from './event-stream.js';
import type { Resources } from './generated/api.js';
import { operations } from './generated/operations.js';
import { pathOf } from './path.js';
import { Runs } from './runs.js';
import { type CallOptions, type ClientOptions, Transport } from './transport.js';

export interface RunyardClient extends Omit<Resources, 'agents' | 'teams' | 'workflows'> {
  readonly agents: Runs<'agent'> & Resources['agents'];
  readonly teams: Runs<'team'> & Resources['teams'];
  readonly workflows: Runs<'workflow'> & Resources['workflows'];
  /** Calls a route of your own in the service. Returns the body of the response. */
  request(
    method: string,
    path: string,
    options?: CallOptions<object> & { readonly body?: object },
  ): Promise<unknown>;
}

/** A client of the service at `baseUrl`. */
export function createClient(options: ClientOptions): RunyardClient {
  const transport = new Transport(options);
  const methods = (calls: Record<string, string>) =>
    Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, operation(transport, call)]));
  const resources = Object.entries(operations).map(([name, calls]) => [name, methods(calls)]);
  const { agents, teams, workflows, ...others } = Object.fromEntries(resources);
  return {
    ...others,
    agents: Object.assign(new Runs(transport, 'agent'), agents),
    teams: Object.assign(new Runs(transport, 'team'), teams),
    workflows: Object.assign(new Runs(transport, 'workflow'), workflows),
    request: (method, path, rest) =>
      transport.value({ ...settingsOf(rest), body: rest?.body, method, path, isOwnRoute: true }),
  };
}

/** A function with the arguments that the types say: ids, then the query or the body, then options. */
function operation(transport: Transport, call: string): (...given: unknown[]) => unknown {
  const [kind, method = '', template = ''] = call.split(' ');
  const ids = template.split('{').length - 1;
  return (...given) => {
    const path = pathOf(template, ...given.slice(0, ids));
    const [data, options] = kind ? given.slice(ids) : [undefined, given[ids]];
    if (kind === 's') return new EventStream(transport, { path, query: Object(data) }, Object(options));
    const sent = data === undefined ? {} : { [kind === 'b' ? 'body' : 'query']: data };
    return transport.value({ ...settingsOf(Object(options)), method, path, ...sent });
  };
}

/** An AbortController has a signal, too, which a copy of it would not have. */
function settingsOf({ query, signal, headers, retries, onUploadProgress }: CallOptions<object> = {}) {
  return {
    ...(query && { query }),
    ...(signal && { signal }),
    ...(headers && { headers }),
    ...(retries !== undefined && { retries }),
    ...(onUploadProgress && { onUploadProgress }),
  };
}

import { DispatchExchange } from './dispatch-exchange.js';
import type { Dispatcher } from './dispatcher.js';
import { fetchTransport } from './fetch-transport.js';
import type { Transport } from './transport.js';

/**
 * Where undici keeps the dispatcher that `fetch` uses: Node's own, or the one that the application has set, which may
 * lead to a proxy. The number is the version of its interface, which is `Dispatcher`; later versions of undici keep one of this
 * version in the same place.
 */
const place = Symbol.for('undici.globalDispatcher.1');

/** Another one in its place, such as that of a mock or of an instrumentation, is meant to see every request. */
const fetchOfNode = globalThis.fetch;

/** The cheapest way to send requests that respects what the application has set up. */
export function usualTransport(): Transport {
  const { fetch } = globalThis;
  const dispatcher = fetch === fetchOfNode ? globalDispatcher() : undefined;
  if (dispatcher === undefined) return fetchTransport(fetch);
  return (request) => new DispatchExchange(dispatcher, request);
}

function globalDispatcher(): Dispatcher | undefined {
  let found: unknown = Reflect.get(globalThis, place);
  if (found === undefined) {
    // Node creates it when one of the classes of `fetch` is used for the first time.
    new Headers();
    found = Reflect.get(globalThis, place);
  }
  return isDispatcher(found) ? found : undefined;
}

function isDispatcher(value: unknown): value is Dispatcher {
  return (
    typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function'
  );
}

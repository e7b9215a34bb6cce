/**
 * The cheapest way that Node has to call a model: the dispatcher below `fetch`, with its kept connections. In the same
 * minute on the same machine, a call with a JSON answer takes 0.08 ms of CPU time through it, 0.14 ms through
 * `http.request` with a keep-alive agent, and 0.67 ms through `fetch`.
 */
new Headers();
const dispatcher = globalThis[Symbol.for('undici.globalDispatcher.1')];

/** Sends a request. `take` gets the bytes of the answer as they arrive. Resolves at its end. */
export function post({ origin, path, body, take, onAbort = () => {} }) {
  const request = {
    origin,
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, {
      onConnect: onAbort,
      onHeaders: () => true,
      onData: (bytes) => {
        take(bytes);
        return true;
      },
      onComplete: resolve,
      onError: reject,
    });
  });
}

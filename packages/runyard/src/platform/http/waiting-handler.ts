import { errors } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { NodeHandler } from './handler.js';
import { refuseUpgrade } from './upgrades.js';

/** How long a request waits for a service that is being opened; its database may take longer to come. */
const patienceMs = 3_000;

/** A handler that exists before its service is open: early requests wait a moment, and are then refused. */
export function waitingHandler(opened: Promise<NodeHandler>): NodeHandler {
  let ready: NodeHandler | null = null;
  opened.then(
    (handler) => {
      ready = handler;
    },
    () => {},
  );
  const handle = (...[request, response]: Parameters<NodeHandler>): void => {
    if (ready !== null) {
      ready(request, response);
      return;
    }
    soon(opened).then(
      (handler) => handler(request, response),
      () => {
        const { status, code, message, options } = errors.notOpened();
        response
          .writeHead(status, { 'content-type': 'application/json', ...options.headers })
          .end(JSON.stringify({ detail: message, error_code: code, request_id: newId() }));
      },
    );
  };
  const upgrade: NodeHandler['upgrade'] = (request, socket, head) => {
    // until a handler takes over, nothing else would notice a lost connection
    const ignore = () => {};
    socket.on('error', ignore);
    soon(opened).then(
      (handler) => {
        handler.upgrade(request, socket, head);
        socket.off('error', ignore);
      },
      () => refuseUpgrade(socket, errors.notOpened(), newId()),
    );
  };
  return Object.assign(handle, { upgrade });
}

function soon<T>(opened: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(reject, patienceMs);
    opened.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

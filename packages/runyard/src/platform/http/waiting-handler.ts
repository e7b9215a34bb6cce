import { errors } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { NodeHandler } from './handler.js';
import { refuseUpgrade } from './upgrades.js';

/** A handler that is there before its service is open: what comes meanwhile waits, and is refused if it never opens. */
export function waitingHandler(opened: Promise<NodeHandler>): NodeHandler {
  let ready: NodeHandler | null = null;
  opened.then(
    (handler) => {
      ready = handler;
    },
    () => {},
  );
  const handle = (...[request, response]: Parameters<NodeHandler>): void => {
    if (ready !== null) ready(request, response);
    else
      opened.then(
        (handler) => handler(request, response),
        () =>
          response
            .writeHead(503, { 'content-type': 'application/json' })
            .end('{"detail":"The service could not be opened"}'),
      );
  };
  const upgrade: NodeHandler['upgrade'] = (request, socket, head) => {
    // until somebody takes it over, nobody else would notice that it broke off
    const ignore = () => {};
    socket.on('error', ignore);
    opened.then(
      (handler) => {
        handler.upgrade(request, socket, head);
        socket.off('error', ignore);
      },
      () => refuseUpgrade(socket, errors.databaseUnavailable('The service could not be opened'), newId()),
    );
  };
  return Object.assign(handle, { upgrade });
}

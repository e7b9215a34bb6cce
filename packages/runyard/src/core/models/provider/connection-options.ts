import type { Shape } from '../../options/kind.js';
import { callable, count, milliseconds, recordOf, text } from '../../options/kinds.js';
import type { ConnectionOptions } from './provider-model.js';

export const connectionShape: Shape<ConnectionOptions> = {
  headers: recordOf({ ...text, secret: true }),
  timeoutMs: milliseconds(1),
  firstByteTimeoutMs: milliseconds(1),
  retries: count(0),
  fetch: callable,
  wait: callable,
};

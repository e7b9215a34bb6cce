import type { Log } from '../log.js';
import { callable, having, required } from './kinds.js';

export const logKind = having<Log>('a log with debug, info, warn and error', {
  debug: required(callable),
  info: required(callable),
  warn: required(callable),
  error: required(callable),
});

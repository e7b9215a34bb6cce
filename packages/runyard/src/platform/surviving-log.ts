import { reasonOf } from '../core/errors/reason.js';
import type { Log } from '../core/log.js';

/**
 * The log of the application, as the service uses it: a method that is missing, that throws or that rejects costs its
 * lines and nothing else. The first failure is written to standard error.
 */
export function survivingLog(given: Log): Log {
  let isReported = false;
  const report = (error: unknown) => {
    if (isReported) return;
    isReported = true;
    process.stderr.write(`The log of the application failed, and lines are lost: ${reasonOf(error)}\n`);
  };
  const method = (level: keyof Log) => (fields: object, message: string) => {
    try {
      const written: unknown = given[level](fields, message);
      if (written instanceof Promise) written.catch(report);
    } catch (error) {
      report(error);
    }
  };
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  };
}

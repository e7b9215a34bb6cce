import { driverFaultOf } from './driver-fault.js';
import { thrownError } from './thrown-error.js';

const longestReason = 2_000;

/**
 * Why something failed, in words that may be shown: what the application said, or what kind of fault a driver met.
 * What the driver said about it is for the log.
 */
export function reasonOf(thrown: unknown): string {
  const error = thrownError(thrown);
  const fault = driverFaultOf(error);
  if (fault !== undefined) {
    const what = fault.kind === 'unreachable' ? 'could not be reached' : 'failed';
    return `a resource that it needs ${what}${fault.code === undefined ? '' : ` (${fault.code})`}`;
  }
  return shortened(error.message || error.name);
}

function shortened(text: string): string {
  return text.length > longestReason ? `${text.slice(0, longestReason)}…` : text;
}

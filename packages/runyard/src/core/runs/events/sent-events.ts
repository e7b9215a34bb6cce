import { childPrefix } from '../journal/child-steps.js';
import type { StepRecord } from '../run.js';

/** Whether an event with this key was sent before this execution of the run. */
export type SentEvents = (key: string) => boolean;

export const nothingSent: SentEvents = () => false;

/**
 * For a run that continues with steps of an earlier execution: the events about those were sent then. An event's key
 * begins with the key of the step that it is about, or with what the keys of several such steps have in common.
 */
export function sentWith(steps: readonly StepRecord[]): SentEvents {
  const kept = new Set<string>();
  const beginnings = new Set<string>();
  for (const { key, status } of steps) {
    if (status !== 'completed') continue;
    kept.add(key);
    for (const beginning of beginningsOf(key)) beginnings.add(beginning);
  }
  return (key) => {
    const about = key.slice(0, Math.max(key.lastIndexOf(':'), 0));
    // an event about the whole of a run inside names none of its steps
    if (about.length < key.lastIndexOf(childPrefix(''))) return false;
    return beginnings.has(about) || beginningsOf(about).some((beginning) => kept.has(beginning));
  };
}

/** `a:b:c` begins with `a`, `a:b` and `a:b:c`. */
function beginningsOf(key: string): string[] {
  const beginnings: string[] = [];
  for (let end = key.indexOf(':'); end !== -1; end = key.indexOf(':', end + 1)) {
    beginnings.push(key.slice(0, end));
  }
  if (key !== '') beginnings.push(key);
  return beginnings;
}

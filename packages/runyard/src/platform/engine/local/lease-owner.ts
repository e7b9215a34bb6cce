import { hostname } from 'node:os';
import { newId } from '../../../core/ids.js';

/** A name for this process that no other process has or will have. */
export function newLeaseOwner(): string {
  const owner = `${hostname()}:${process.pid}:${newId()}`;
  living.add(owner);
  return owner;
}

/** The owners of this process: several services may live in it. */
const living = new Set<string>();

/**
 * Whether the process behind a lease is known to be dead. Only for a database that one machine uses: then a
 * crashed service takes its runs up again at once instead of waiting for their leases to end.
 */
export function isLeaseOwnerGone(owner: string): boolean {
  const [host, pidText] = owner.split(':');
  const pid = Number(pidText);
  if (host !== hostname() || !Number.isInteger(pid)) return false;
  // this very process may have the number of one that is gone
  return pid === process.pid ? !living.has(owner) : !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

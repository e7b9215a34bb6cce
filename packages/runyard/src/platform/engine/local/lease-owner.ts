import { hostname } from 'node:os';
import { errorCode } from '../../../core/errors/error-code.js';
import { newId } from '../../../core/ids.js';
import { ownBirth, type ProcessBirth, processNow, sharesHostName } from './process-birth.js';

/**
 * A name for this process that no other process has or will have: `host:pid:id`, and on Linux `:boot/namespace/start`,
 * which distinguishes a process from a later one with the same number.
 */
export function newLeaseOwner(): string {
  const birth = ownBirth();
  const owner = [hostname(), process.pid, newId(), ...(birth === undefined ? [] : [textOf(birth)])].join(':');
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
  const [host, pidText, , birthText] = owner.split(':');
  const pid = Number(pidText);
  if (host !== hostname() || !Number.isInteger(pid) || pid <= 0 || living.has(owner)) return false;
  const birth = birthOf(birthText);
  const own = ownBirth();
  if (birth !== undefined && own !== undefined) {
    if (birth.boot !== own.boot) return true;
    // Process ids of another container say nothing here. A container of this host name is an earlier life of this
    // one, unless all containers of the machine share the name.
    if (birth.namespace !== own.namespace) return !sharesHostName();
  }
  // this very process may have the number of one that is gone
  if (pid === process.pid) return true;
  const now = processNow(pid);
  if (now === undefined) return !answersSignals(pid);
  return now.hasEnded || (birth !== undefined && birth.start !== now.start);
}

function textOf({ boot, namespace, start }: ProcessBirth): string {
  return `${boot}/${namespace}/${start}`;
}

function birthOf(text: string | undefined): ProcessBirth | undefined {
  const [boot, namespace, start] = text?.split('/') ?? [];
  return boot === undefined || namespace === undefined || start === undefined
    ? undefined
    : { boot, namespace, start };
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

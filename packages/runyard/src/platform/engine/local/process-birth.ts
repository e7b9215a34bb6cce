import { readFileSync, readlinkSync } from 'node:fs';

/** What distinguishes a process from every other one of the machine, past and future ones with its number included. */
export interface ProcessBirth {
  /** Changes when the machine starts again. */
  readonly boot: string;
  /** The namespace in which process ids are unique. */
  readonly namespace: string;
  /** When it started, in ticks since the machine did. */
  readonly start: string;
}

/** The host name of the machine itself; containers without one of their own have this too. */
const namespaceOfMachine = 'uts:[4026531838]';

let own: ProcessBirth | null | undefined;

/** Of this process; undefined where the system does not say (it is Linux that does). */
export function ownBirth(): ProcessBirth | undefined {
  own ??= readOwnBirth() ?? null;
  return own ?? undefined;
}

/** Whether processes of other containers may have the host name that this one has. */
export function sharesHostName(): boolean {
  return tried(() => readlinkSync('/proc/self/ns/uts')) === namespaceOfMachine;
}

/**
 * What the system knows of a process; undefined when it says nothing. A process that was killed and that its parent
 * has not asked for yet is there, and takes signals, but has ended.
 */
export function processNow(pid: number): { readonly start: string; readonly hasEnded: boolean } | undefined {
  const text = tried(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // the name of the program is in brackets, and may hold brackets and blanks itself
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, start] = [fields?.[0], fields?.[19]];
  return state === undefined || start === undefined ? undefined : { start, hasEnded: /^[ZXx]$/.test(state) };
}

function readOwnBirth(): ProcessBirth | undefined {
  const boot = tried(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = tried(() => readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''));
  const start = processNow(process.pid)?.start;
  return boot && namespace && start ? { boot, namespace, start } : undefined;
}

function tried<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

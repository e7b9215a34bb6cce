import { errors } from '../../core/errors/errors.js';
import type { Priority } from '../../core/runs/leases/priority.js';

/** A scope in its parts: `agents:run` for all of a resource, `agents:writer:run` for one of it, `*` for any. */
export interface ParsedScope {
  readonly resource: string;
  /** Null in a scope for the whole resource. */
  readonly instance: string | null;
  readonly action: string;
}

/** An older name of a resource. */
const aliases: ReadonlyMap<string, string> = new Map([['system', 'config']]);

/** The parts of a scope; undefined for any other text. Unknown words are legal: they open nothing. */
export function parseScope(text: string): ParsedScope | undefined {
  const parts = text.split(':');
  const [named, second, third] = parts;
  if (!named || !second || third === '' || parts.length > 3) return undefined;
  const resource = aliases.get(named) ?? named;
  return third === undefined
    ? { resource, instance: null, action: second }
    : { resource, instance: second, action: third };
}

/** For runs that are more urgent than usual. No route asks for it: a field of a request does. */
export const prioritizeScope = 'runs:prioritize';

/** Refuses who may not put others behind: a run that is more urgent than usual keeps those of other users waiting. */
export function assertMayPrioritize({ rights }: { readonly rights: Rights }, priority: unknown): void {
  if (priority === highest && !rights.may(prioritizeScope)) throw errors.insufficientScope([prioritizeScope]);
}

const highest: Priority = 'high';

/** Which of its instances a caller may do something to. */
export type Instances = 'all' | ReadonlySet<string>;

/** What the scopes of a caller allow. */
export class Rights {
  /** For callers whose scopes are not checked. */
  static readonly unlimited = new Rights([], { adminScope: '', enforced: false });
  /** For callers who came in without a token where one is needed elsewhere. */
  static readonly none = new Rights([], { adminScope: '', enforced: true });

  /** Sees and may do everything, and may act for others. */
  readonly isAdmin: boolean;
  readonly enforced: boolean;
  readonly #scopes: readonly ParsedScope[];

  constructor(
    readonly held: readonly string[],
    options: { readonly adminScope: string; readonly enforced: boolean },
  ) {
    this.enforced = options.enforced;
    this.isAdmin = held.includes(options.adminScope);
    this.#scopes = held.flatMap((text) => parseScope(text) ?? []);
  }

  /** Whether the caller holds this scope, for one instance of the resource or for the resource as a whole. */
  may(required: string, instance?: string): boolean {
    if (!this.enforced || this.isAdmin) return true;
    const wanted = parseScope(required);
    if (wanted === undefined) return false;
    const instances = this.instances(wanted.resource, wanted.action);
    return instances === 'all' || (instance !== undefined && instances.has(instance));
  }

  /** The instances of a resource that the caller may do this to. */
  instances(resource: string, action: string): Instances {
    if (!this.enforced || this.isAdmin) return 'all';
    const named = new Set<string>();
    for (const scope of this.#scopes) {
      if (scope.resource !== resource || scope.action !== action) continue;
      if (scope.instance === null || scope.instance === '*') return 'all';
      named.add(scope.instance);
    }
    return named;
  }
}

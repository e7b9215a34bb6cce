import { compareTexts } from '../../core/compare-texts.js';
import type { Registry } from '../../core/registry/registry.js';
import type { RegistryEntry } from '../../core/registry/registry-entries.js';
import type { Caller } from '../../platform/auth/caller.js';
import { type ListPage, offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';

export interface RegistryFilter {
  readonly type?: RegistryEntry['type'] | undefined;
  /** A part of the name, in letters of either case. */
  readonly name?: string | undefined;
}

/** What stored configurations can refer to. */
export class RegistryService {
  #sorted: readonly RegistryEntry[] | undefined;

  constructor(
    private readonly registry: () => Registry,
    private readonly databases: readonly string[],
  ) {}

  /** By type and name. Of agents and teams, and of what belongs to one, those that the caller may see or run. */
  list(caller: Caller, { type, name = '' }: RegistryFilter, page: PageRequest): ListPage<RegistryEntry> {
    const wanted = name.trim().toLowerCase();
    const found = this.entries().filter(
      (entry) =>
        (type === undefined || entry.type === type) &&
        (wanted === '' || entry.name.toLowerCase().includes(wanted)) &&
        isShown(entry, caller),
    );
    const offset = offsetOf(page);
    return { items: found.slice(offset, offset + page.limit), total: found.length };
  }

  /** The code does not change: it is described once. */
  private entries(): readonly RegistryEntry[] {
    this.#sorted ??= [...this.registry().entries(this.databases)].sort(
      (one, other) => compareTexts(one.type, other.type) || compareTexts(one.name, other.name),
    );
    return this.#sorted;
  }
}

function isShown({ owner }: RegistryEntry, { rights }: Caller): boolean {
  if (owner === undefined) return true;
  const { kind, id } = owner;
  return rights.may(`${kind}s:read`, id) || rights.may(`${kind}s:run`, id);
}

import type {
  ComponentConfig,
  ComponentReference,
  ConfigFault,
} from '../../../core/configs/component-config.js';
import { errors, type ValidationItem } from '../../../core/errors/errors.js';
import type { Json } from '../../../core/json.js';
import type { RunKind } from '../../../core/runs/run.js';
import type { Link, LinkRow } from './stored-component.js';

/** What configurations mean. */
export interface ConfigLanguage {
  /** Faults of keys and types, and secrets. */
  check(kind: RunKind, config: ComponentConfig): readonly ConfigFault[];
  references(kind: RunKind, config: ComponentConfig): readonly ComponentReference[];
  /** Where a value holds a secret. */
  secrets(value: Json): readonly ConfigFault[];
  /** What of it is stored: nothing about how to connect to a database. */
  stored(config: ComponentConfig): ComponentConfig;
}

/** The most faults that an answer names. */
const mostFaults = 50;

/** A configuration in the form in which it is stored. Refuses one with faults, each with its place. */
export function checkedConfig(
  language: ConfigLanguage,
  kind: RunKind,
  given: ComponentConfig,
): ComponentConfig {
  // null is the contract's way to leave the database out
  const { db, ...others } = given;
  const config = db === null ? others : given;
  const faults = language.check(kind, config);
  if (faults.length > 0) throw refused(['config'], faults);
  return language.stored(config);
}

/** Refuses secrets in what is stored beside a configuration. */
export function assertNoSecrets(
  language: ConfigLanguage,
  fields: Readonly<Record<string, Json | undefined>>,
): void {
  for (const [field, value] of Object.entries(fields)) {
    const faults = value === undefined || value === null ? [] : language.secrets(value);
    if (faults.length > 0) throw refused([field], faults);
  }
}

/** What a configuration refers to: with the version that a link pins, and links that pin something else. */
export function linkRows(
  language: ConfigLanguage,
  kind: RunKind,
  config: ComponentConfig,
  links: readonly Link[],
): LinkRow[] {
  const keyOf = ({ linkKind, linkKey }: Pick<LinkRow, 'linkKind' | 'linkKey'>) => `${linkKind}\n${linkKey}`;
  const pinned = new Map(links.map((link) => [keyOf(link), link]));
  const references = language.references(kind, config).flatMap(({ linkKind, linkKey, id }): LinkRow[] => {
    const link = pinned.get(keyOf({ linkKind, linkKey }));
    return link?.childId === id ? [] : [{ linkKind, linkKey, childId: id, childVersion: null }];
  });
  return [...links, ...references];
}

/** Values are left out: they may be secrets. */
function refused(field: readonly string[], faults: readonly ConfigFault[]): Error {
  const items = faults.slice(0, mostFaults).map(
    ({ path, message }): ValidationItem => ({
      type: 'value_error',
      loc: ['body', ...field, ...placeOf(path)],
      msg: `Value error, ${path === '' ? field.join('.') : path} ${message}`,
      input: null,
      ctx: { error: {} },
    }),
  );
  return errors.invalidRequest(items);
}

/** `tools[0].name` as the parts of a location. */
function placeOf(path: string): (string | number)[] {
  const parts = path.match(/\[\d+\]|[^.[\]]+/g) ?? [];
  return parts.map((part) => (part.startsWith('[') ? Number(part.slice(1, -1)) : part));
}

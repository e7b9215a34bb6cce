import { randomInt } from 'node:crypto';
import { errors } from '../../../core/errors/errors.js';

const longestId = 255;

/** Paths of the service that stand where an id of a component does: `/workflows/ws`. */
const reservedIds = new Set(['ws']);

/** The id that a client gives, if it can be one. */
export function checkedId(id: string): string {
  if (!/^[\w.~-]+$/.test(id) || /^\.+$/.test(id) || id.length > longestId)
    throw errors.invalidComponentId(id.length > longestId ? `${id.slice(0, 50)}…` : id);
  if (reservedIds.has(id)) throw errors.reservedComponentId(id);
  return id;
}

/** The id of a component whose client gives none: from its name, as far as that can stand in a URL. */
export function idFromName(name: string): string {
  const id = name
    .toLowerCase()
    .replace(/[\s_]/g, '-')
    .replace(/[^\w.~-]/g, '')
    .slice(0, longestId);
  return /[a-z0-9]/.test(id) ? checkedId(id) : readableId();
}

const qualities = ['amber', 'brisk', 'calm', 'clear', 'early', 'gentle', 'keen', 'lively', 'quiet', 'sunny'];
const things = [
  'brook',
  'cedar',
  'falcon',
  'harbor',
  'lantern',
  'maple',
  'meadow',
  'otter',
  'river',
  'summit',
];

function readableId(): string {
  const pick = (words: readonly string[]) => words[randomInt(words.length)];
  return `${pick(qualities)}-${pick(things)}-${randomInt(1_000_000)}`;
}

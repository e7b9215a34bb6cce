import { checkOptions } from '../options/check-options.js';
import { isObject, unknownOption, within } from '../options/faults.js';
import type { Kind, Optional } from '../options/kind.js';
import {
  anyOf,
  count,
  instanceOf,
  json,
  kind,
  listOf,
  name,
  objectOf,
  recordOf,
  required,
  text,
} from '../options/kinds.js';
import type { GivenContent, GivenFrom } from './knowledge-space.js';

type From<Field extends string> = Extract<GivenFrom, Readonly<Record<Field, unknown>>>;

const address = kind('an address that begins with http:// or https://', isWebAddress);

/** Each is known by its first field. */
const origins: Readonly<Record<string, Kind>> = {
  source: objectOf<From<'source'>>({
    source: required(name),
    path: required(name),
    parameters: recordOf(text),
  }),
  text: objectOf<From<'text'>>({ text: required(text) }),
  bytes: objectOf<From<'bytes'>>({
    bytes: required(instanceOf(Uint8Array, 'a Uint8Array')),
    filename: required(name),
    mediaType: text,
  }),
  url: objectOf<From<'url'>>({ url: required(anyOf(address, listOf(address, 1))) }),
  path: objectOf<{ readonly path: string }>({ path: required(name) }),
};

const from: Optional = {
  allowed: 'one of { text }, { path }, { bytes, filename }, { url } and { source, path }',
  takes: isObject,
  inside: (value: Readonly<Record<string, unknown>>, path, faults) => {
    const known = Object.keys(origins);
    const given = known.filter(
      (field) => value[field] !== undefined && !(field === 'path' && 'source' in value),
    );
    const [only, another] = given;
    const unknown = Object.keys(value).find((field) => !known.includes(field));
    if (only !== undefined && another === undefined) origins[only]?.inside?.(value, path, faults);
    else if (only === undefined && unknown !== undefined)
      faults.push(unknownOption(within(path, unknown), unknown, known, {}));
    else
      faults.push(
        `${path} has ${only === undefined ? 'no content' : given.join(' and ')}. Give ${from.allowed}.`,
      );
  },
};

/** A content that code adds, or that a knowledge base has from the start. */
export const givenContent = objectOf<GivenContent>({
  name: text,
  description: text,
  metadata: json,
  type: text,
  from: required(from),
  reader: name,
  chunker: name,
  chunkSize: count(1),
  chunkOverlap: count(0),
});

export function checkContent(given: GivenContent): void {
  checkOptions('add()', given, givenContent);
}

export function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

const removed = '[removed]';

/** Names of fields whose value is a secret, whatever their spelling: `api_key`, `apiKey`, `x-api-key`. */
const secretNames =
  /^(authorization|proxyauthorization|(set)?cookie|passw(or)?d|passphrase|secret|clientsecret|token|(access|refresh|id|bearer|auth)token|(x)?apikey|privatekey|credentials?)$/;

const deepest = 8;

/** The same value without secrets. What holds none is returned as it is, so that the usual line costs no copy. */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return withoutSecretsInText(value);
  if (typeof value !== 'object' || value === null || value instanceof Error || depth > deepest) return value;
  if (Array.isArray(value)) return cleanedList(value, depth);
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null)
    return value;
  return cleanedFields(value as Record<string, unknown>, depth);
}

function cleanedFields(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in fields) {
    const value = fields[name];
    const cleaned =
      isSecretName(name) && value !== undefined && value !== null
        ? removed
        : withoutSecrets(value, depth + 1);
    if (cleaned === value) continue;
    copy ??= { ...fields };
    copy[name] = cleaned;
  }
  return copy ?? fields;
}

function cleanedList(items: readonly unknown[], depth: number): readonly unknown[] {
  const cleaned = items.map((item) => withoutSecrets(item, depth + 1));
  return cleaned.some((item, index) => item !== items[index]) ? cleaned : items;
}

const knownNames = new Map<string, boolean>();

function isSecretName(name: string): boolean {
  let known = knownNames.get(name);
  if (known === undefined) {
    known = secretNames.test(name.replace(/[-_]/g, '').toLowerCase());
    // Field names come from code, but a log of a foreign object must not make this grow for ever.
    if (knownNames.size < 1000) knownNames.set(name, known);
  }
  return known;
}

/** Removes passwords in URLs and bearer tokens from a text. */
export function withoutSecretsInText(text: string): string {
  let cleaned = text;
  if (cleaned.includes('://')) {
    cleaned = cleaned
      .replace(/(:\/\/[^\s:@/?#]*):[^\s/?#]*@/g, `$1:${removed}@`)
      .replace(/([?&](?:password|token|access_token|api_key|apikey|key|secret)=)[^\s&#]+/gi, `$1${removed}`);
  }
  if (/bearer /i.test(cleaned)) cleaned = cleaned.replace(/\b(bearer) +[\w.~+/=-]+/gi, `$1 ${removed}`);
  return cleaned;
}

/** What stands where a secret was. */
export const removedSecret = '[removed]';

/** Names of fields whose value is a secret, whatever their spelling: `api_key`, `apiKey`, `x-api-key`. */
const secretNames =
  /^(authorization|proxyauthorization|(set)?cookie|passw(or)?d|passphrase|secret|clientsecret|token|(access|refresh|id|bearer|auth)token|(x)?apikey|privatekey|credentials?)$/;

const knownNames = new Map<string, boolean>();

export function isSecretName(name: string): boolean {
  let known = knownNames.get(name);
  if (known === undefined) {
    known = secretNames.test(plainName(name));
    // Field names come from code, but foreign objects must not make this grow for ever.
    if (knownNames.size < 1000) knownNames.set(name, known);
  }
  return known;
}

/** A name of a field without what differs between spellings. */
export function plainName(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

/** Removes passwords in URLs and bearer tokens from a text. */
export function withoutSecretsInText(text: string): string {
  let cleaned = text;
  if (cleaned.includes('://')) {
    cleaned = cleaned
      .replace(/(:\/\/[^\s:@/?#]*):[^\s/?#]*@/g, `$1:${removedSecret}@`)
      .replace(
        /([?&](?:password|token|access_token|api_key|apikey|key|secret)=)[^\s&#]+/gi,
        `$1${removedSecret}`,
      );
  }
  if (/bearer /i.test(cleaned)) cleaned = cleaned.replace(/\b(bearer) +[\w.~+/=-]+/gi, `$1 ${removedSecret}`);
  return cleaned;
}

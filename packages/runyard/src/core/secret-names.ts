/** What stands where a secret was. */
export const removedSecret = '[removed]';

/**
 * Names of fields whose value is a secret, whatever their spelling: `api_key`, `apiKey`, `x-api-key`; some also with the
 * name of what they open before them: `openai_api_key`, `DB_PASSWORD`. A `page_token` is not a secret.
 */
const secretNames =
  /^(authorization|proxyauthorization|(set)?cookie|passw(or)?d|passphrase|pwd|(client|shared|signing|webhook)?secret|(x)?(access|refresh|id|bearer|auth|session|security|csrf|internal)?token|(x)?(api|private|signing|security|secret|accountaccess|secretaccess|jwtverification)key|jwtkeys?|connectionstring|credentials?|.+(apikey|accesskey|privatekey|secretkey|signingkey|passw(or)?d|passphrase)|(app|jwt|(mcp)?oauth|session|cookie|stripe)secret|.*(api|bot|discord|github|gitlab|huggingface|npm|slack|telegram)token)$/;

const knownNames = new Map<string, boolean>();
const longestKnown = 64;

export function isSecretName(name: string): boolean {
  let known = knownNames.get(name);
  if (known === undefined) {
    known = secretNames.test(plainName(name));
    // Field names come from code, but foreign objects must not make this grow forever.
    if (knownNames.size < 1000 && name.length <= longestKnown) knownNames.set(name, known);
  }
  return known;
}

/** A name of a field without what differs between spellings. */
export function plainName(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

/** What has to be in a text that holds one of the forms below: most texts have none of it. */
const signsOfSecrets = /:\/\/|bearer |basic |eyJ|_pat_|sk-|xox|xapp-/i;

/** The part of an address before its host, and its query: passwords, keys, signatures. */
const userPassword = /(:\/\/[^\s:@/?#]*):[^\s/?#]*@/g;
const parameterNames =
  '(?:password|(?:access_|id_|refresh_)?token|api[-_]?key|key|(?:client_)?secret|auth|jwt|sig|(?:x-(?:amz|goog)-)?(?:signature|credential|security-token))';
const secretParameter = new RegExp(`([?&]${parameterNames}=)[^\\s&#"']+`, 'gi');
const bearerToken = /\b(bearer) +[\w.~+/=-]+/gi;
/** With a figure or a filling sign in it: `basic research` is no password. */
const basicPassword = /\b(basic) +(?=[\w+/]*[\d=])[\w+/]{6,}={0,2}/gi;
/** A JWT, the token of a service account, the key of a provider, and tokens of Slack; each from where a word begins. */
const bareToken =
  /(?<![\w-])(?:eyJ[\w-]+\.[\w-]+\.[\w-]*|[a-z]+_pat_[\w-]{8,}|sk-[\w-]{16,}|(?:xox[a-z]|xapp)-[\w-]{8,})/g;

/**
 * Forms that occur in no prose: tokens, the keys of model providers, GitHub, GitLab, Slack, Stripe, AWS and Google, private keys,
 * passwords in addresses, and long values with figures where a key is due. Instructions may speak of bearer tokens.
 */
const certainSecrets = [
  userPassword,
  /(?<![\w-])(?:eyJ[\w-]{8,}\.[\w-]+\.|[a-z]+_pat_[\w-]{8,}|sk-(?=[\w-]*\d)[\w-]{16,})/,
  /(?<![\w-])(?:gh[pousr]_[A-Za-z0-9]{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,})/,
  /(?<![\w-])(?:(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)|AIza[\w-]{35})/,
  /-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY-----/,
  /\bbearer +(?=[^\s\d]*\d)[\w.~+/=-]{16,}/i,
  /\bbasic +(?=[^\s\d=]*[\d=])[\w+/]{12,}={0,2}(?![\w+/])/i,
  new RegExp(`[?&]${parameterNames}=(?=[^\\s&#"']{0,64}\\d)[^\\s&#"'{}<>$]{12,}`, 'i'),
];

/** Whether a text holds a secret without much doubt: a text that only looks like one is not to be refused. */
export function holdsSecret(text: string): boolean {
  return certainSecrets.some((form) => text.search(form) !== -1);
}

/** Removes what looks like a secret from a text: passwords and keys in URLs, and tokens. */
export function withoutSecretsInText(text: string): string {
  if (!signsOfSecrets.test(text)) return text;
  return text
    .replace(userPassword, `$1:${removedSecret}@`)
    .replace(secretParameter, `$1${removedSecret}`)
    .replace(bearerToken, `$1 ${removedSecret}`)
    .replace(basicPassword, `$1 ${removedSecret}`)
    .replace(bareToken, removedSecret);
}

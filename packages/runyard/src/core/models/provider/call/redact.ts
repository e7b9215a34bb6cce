const removed = '***';

/** Shorter ones are no keys: taking them out would only garble the text. */
const shortestSecret = 6;

/**
 * Makes a function that takes secrets out of a text: the known ones, and whatever looks like a
 * key. Providers and the proxies before them repeat keys that were never ours to know, or half of one.
 */
export function redactor(secrets: Iterable<string>): (text: string) => string {
  const known = [...new Set(Array.from(secrets, withoutScheme))]
    .filter((secret) => secret.length >= shortestSecret)
    // the longer one first: it may hold the shorter one
    .sort((one, other) => other.length - one.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, removed);
    return withoutKeys(clean);
  };
}

/** `Bearer abc` in a header is the secret `abc`: the text may hold it without the word before it. */
function withoutScheme(secret: string): string {
  return secret.replace(/^(bearer|basic|token|apikey) +/i, '').trim();
}

/** The forms that keys of providers have, with asterisks where a provider has masked the middle of one. */
const keyForms = /\b(?:(?:sk|pk|rk|gsk|xai|hf|r8|pplx|nvapi|runyard_pat)[-_][\w*.-]{8,}|AIza[\w*.-]{8,})/g;

function withoutKeys(text: string): string {
  return (
    text
      // with a digit or a masked part in it: `Bearer authentication` is no key
      .replace(/\b(bearer|basic) +(?=\S*[\d*])[\w.~+/=*-]{6,}/gi, `$1 ${removed}`)
      .replace(/([?&](?:password|(?:access_)?token|api[-_]?key|key|secret)=)[^\s&#"']+/gi, `$1${removed}`)
      .replace(/(:\/\/[^\s:@/?#]*):[^\s/?#@]*@/g, `$1:${removed}@`)
      .replace(keyForms, removed)
  );
}

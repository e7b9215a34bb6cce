import { isIP } from 'node:net';

/** Below these, each name has an owner of its own: countries' second levels, and hosts of many sites. */
const secondLevels = new Set(['ac', 'co', 'com', 'edu', 'gob', 'gov', 'go', 'ne', 'net', 'or', 'org']);
const sharedSuffixes = new Set(
  'github.io gitlab.io pages.dev workers.dev vercel.app netlify.app web.app firebaseapp.com herokuapp.com onrender.com fly.dev blogspot.com wordpress.com azurewebsites.net cloudfront.net readthedocs.io amazonaws.com'.split(
    ' ',
  ),
);

/** The domain that a site is registered under: `docs.example.com` belongs to `example.com`. */
export function primaryDomain(hostname: string): string {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return hostname;
  const labels = hostname.split('.');
  const suffix = labels.slice(-2);
  const isShared =
    sharedSuffixes.has(suffix.join('.')) ||
    (suffix[1]?.length === 2 && suffix[0] !== undefined && secondLevels.has(suffix[0]));
  return labels.slice(isShared ? -3 : -2).join('.');
}

const tracking = /^(utm_\w+|gclid|fbclid|mc_[ce]id)$/;

/** The form in which two addresses of one page are equal; undefined for what is no web address. */
export function pageAddress(text: string, base?: string): string | undefined {
  if (!URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  url.hash = '';
  if (url.search === '') return url.href;
  const unneeded = [...url.searchParams.keys()].filter((name) => tracking.test(name));
  // an untouched query keeps its spelling
  for (const name of unneeded) url.searchParams.delete(name);
  return url.href;
}

const videoHosts = new Set(['youtube.com', 'youtu.be', 'youtube-nocookie.com']);

export function isYouTube(url: URL): boolean {
  return videoHosts.has(primaryDomain(url.hostname));
}

/** The last part of the path, as a file name: `report.pdf`. Null when the path ends with a slash. */
export function fileNameOf(address: string): string | null {
  const last = new URL(address).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || null;
  } catch {
    return last;
  }
}

import type { IncomingHttpHeaders } from 'node:http';
import type { AuthSettings } from './tokens/settings.js';

export interface PresentedToken {
  readonly token: string;
  /** A browser sends a cookie along by itself, also for a page that is not the holder's. */
  readonly from: 'header' | 'cookie';
}

type SourceSettings = Pick<AuthSettings, 'tokenSource' | 'tokenCookie'>;

/** The token of a request. The cookie counts only when there is no header: a bad header is not rescued by it. */
export function presentedToken(
  headers: IncomingHttpHeaders,
  { tokenSource, tokenCookie }: SourceSettings,
): PresentedToken | undefined {
  const { authorization, cookie } = headers;
  if (tokenSource !== 'cookie' && authorization !== undefined)
    return { token: withoutScheme(authorization), from: 'header' };
  const token = tokenSource === 'header' ? undefined : cookieIn(cookie ?? '', tokenCookie);
  return token === undefined ? undefined : { token, from: 'cookie' };
}

/** `Bearer <token>`, or the token alone. */
function withoutScheme(authorization: string): string {
  return authorization.trim().replace(/^bearer\s+(?=\S)/i, '');
}

export function cookieIn(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) {
      const value = pair.slice(at + 1).trim();
      return value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
    }
  }
  return undefined;
}

import type { IncomingHttpHeaders } from 'node:http';
import type { RouteRequest } from '../route.js';

export const consolePath = '/console';

/** Whether a page is wanted rather than data: a browser that opens an address says so, and API clients do not. */
export function prefersPage({ accept = '' }: IncomingHttpHeaders): boolean {
  const page = qualityOf('text/html', accept);
  return page > 0 && page >= qualityOf('application/json', accept);
}

/** How much a media type is wanted that is named as such; 0 where it is not. */
function qualityOf(type: string, accept: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
  }
  return 0;
}

/** The path of the console, as the browser knows it. */
export function consoleAddress({
  calledAddress,
}: Pick<RouteRequest<never, never, never>, 'calledAddress'>): string {
  return new URL(calledAddress).pathname.replace(/\/+$/, '') + consolePath;
}

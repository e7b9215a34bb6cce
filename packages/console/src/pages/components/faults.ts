import { ApiError } from '@runyard/client';

/** What the service says about a configuration, by the place in it: `tools.0.parameters`. */
export function faultsAt(error: unknown): ReadonlyMap<string, string> {
  if (!(error instanceof ApiError)) return new Map();
  return new Map(
    error.faults.map(({ loc, msg }) => {
      const at = loc.indexOf('config');
      const path = (at < 0 ? loc.filter((part) => part !== 'body') : loc.slice(at + 1)).join('.');
      return [path, msg.replace(/^Value error, /, '')];
    }),
  );
}

/** The faults of a key and of everything below it. */
export function faultOf(faults: ReadonlyMap<string, string>, key: string): string | undefined {
  const found = [...faults].filter(([path]) => path === key || path.startsWith(`${key}.`));
  return found.length === 0 ? undefined : found.map(([, message]) => message).join(' ');
}

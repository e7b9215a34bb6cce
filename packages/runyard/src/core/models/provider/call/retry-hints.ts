import { isJsonObject, type Json, type JsonObject } from '../../../json.js';

/** What a provider says about trying again, wherever it says it. */
export interface RetryHints {
  /** How long it asks to be left alone. */
  readonly afterMs?: number;
  /** Its own word on whether another try makes sense. */
  readonly worthwhile?: boolean;
}

/** Reads the hints in the headers and in the error of an answer. */
export function retryHints(headers: Headers, error?: JsonObject): RetryHints {
  const afterMs = retryAfter(headers) ?? retryInfo(error) ?? exhaustedUntil(headers);
  const said = headers.get('x-should-retry');
  const worthwhile = said === 'true' ? true : said === 'false' || isDailyQuota(error) ? false : undefined;
  return { ...(afterMs !== undefined && { afterMs }), ...(worthwhile !== undefined && { worthwhile }) };
}

function retryAfter(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  return untilDate(value);
}

/** Google puts the pause into the details of the error, as a duration such as `34.07s`. */
function retryInfo(error: JsonObject | undefined): number | undefined {
  const info = detailsOf(error).find((detail) => String(detail['@type']).endsWith('google.rpc.RetryInfo'));
  return typeof info?.retryDelay === 'string' ? duration(info.retryDelay) : undefined;
}

/** A quota of the day that is used up does not come back within any pause worth waiting for. */
function isDailyQuota(error: JsonObject | undefined): boolean {
  return detailsOf(error).some(
    ({ violations }) =>
      Array.isArray(violations) &&
      violations.some((violation) => isJsonObject(violation) && /PerDay/i.test(String(violation.quotaId))),
  );
}

function detailsOf(error: JsonObject | undefined): JsonObject[] {
  return Array.isArray(error?.details) ? error.details.filter(isJsonObject) : [];
}

/**
 * When the limits that are used up are filled again: `x-ratelimit-reset-tokens: 6m0s` beside
 * `x-ratelimit-remaining-tokens: 0`, or `anthropic-ratelimit-tokens-reset` with a date.
 */
function exhaustedUntil(headers: Headers): number | undefined {
  const pauses: number[] = [];
  for (const [name, value] of headers) {
    const [, prefix, before, after] =
      /^(x|anthropic)-ratelimit-(?:remaining-(.+)|(.+)-remaining)$/.exec(name) ?? [];
    if (prefix === undefined || Number(value) > 0) continue;
    const reset = headers.get(
      before === undefined ? `${prefix}-ratelimit-${after}-reset` : `${prefix}-ratelimit-reset-${before}`,
    );
    const pause = reset === null ? undefined : (duration(reset) ?? untilDate(reset));
    if (pause !== undefined) pauses.push(pause);
  }
  return pauses.length > 0 ? Math.max(...pauses) : undefined;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `20ms`, `6m0s` or `1.5s`; a bare number is seconds. */
function duration(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    milliseconds += Number(amount) * (units[unit ?? ''] ?? 0);
  }
  return milliseconds;
}

function untilDate(text: Json): number | undefined {
  const date = Date.parse(String(text));
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

import { describe, expect, it } from 'vitest';
import { retryHints } from './retry-hints.js';

const after = (headers: Record<string, string>) => retryHints(new Headers(headers)).afterMs;

describe('the hints of a provider', () => {
  it('are read from the headers, the most exact first', () => {
    expect(after({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
    expect(after({ 'retry-after': '1.5' })).toBe(1500);
    expect(after({ 'retry-after': new Date(Date.now() - 1000).toUTCString() })).toBe(0);
    expect(after({ 'retry-after': 'soon' })).toBeUndefined();
    expect(after({ 'retry-after': '-1' })).toBeUndefined();
    expect(after({})).toBeUndefined();
  });

  it('are the longest reset among the limits that are used up', () => {
    const limits = (remaining: string, reset: string) => ({
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '20ms',
      'x-ratelimit-remaining-tokens': remaining,
      'x-ratelimit-reset-tokens': reset,
    });
    expect(after(limits('0', '6m0s'))).toBe(360_000);
    expect(after(limits('100', '6m0s'))).toBe(20);
    expect(after(limits('0', '3'))).toBe(3000);
    expect(after(limits('0', 'tomorrow'))).toBe(20);
  });

  it('say whether to try again at all', () => {
    expect(retryHints(new Headers({ 'x-should-retry': 'true' })).worthwhile).toBe(true);
    expect(retryHints(new Headers({ 'x-should-retry': 'false' })).worthwhile).toBe(false);
    expect(retryHints(new Headers()).worthwhile).toBeUndefined();
  });
});

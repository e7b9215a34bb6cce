import { createHmac, timingSafeEqual } from 'node:crypto';

/** How old a request may be, and how far the clocks may differ. */
const toleranceSeconds = 300;

/** Whether Slack signed these very bytes, not long ago. */
export function isSigned(
  body: Uint8Array,
  { timestamp, signature }: { readonly timestamp: string; readonly signature: string },
  secret: string,
  nowMs = Date.now(),
): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > toleranceSeconds) return false;
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex');
  const expected = Buffer.from(`v0=${digest}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

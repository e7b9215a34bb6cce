import { createHash } from 'node:crypto';

/** How long after its tick a schedule is executed: the same in every process, and spread over the whole jitter. */
export function jitterMs(scheduleId: string, tick: number, jitterSeconds: number): number {
  if (jitterSeconds === 0) return 0;
  const digest = createHash('sha256').update(`${scheduleId}:${tick}`).digest();
  return digest.readUInt32BE(0) % (jitterSeconds * 1000);
}

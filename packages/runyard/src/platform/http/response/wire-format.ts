import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { lazyObject } from '../../../core/schemas/lazy-schema.js';

/** How the wire shows runs. `agentos` is the switch for clients of the older interface. */
export type WireFormat = 'runyard' | 'agentos';

export interface WireFormatSettings {
  readonly compatibility: 'none' | 'agentos';
}

/** The request header that asks for the older form, in the description of a route. */
export const wireFormatHeader = () => ({
  'x-runyard-compat': z
    .string()
    .optional()
    .meta({
      description:
        '`agentos`: statuses of runs in upper case, created_at of run bodies in seconds, and no list of runs for a session whose only runs are streamed ones that have not come to rest. Any other value is ignored.',
      examples: ['agentos'],
      'x-addition': true,
    }),
});

export const wireFormatHeaders = lazyObject(wireFormatHeader);

export function wireFormatOf(settings: WireFormatSettings, headers: IncomingHttpHeaders): WireFormat {
  const asked = settings.compatibility === 'agentos' || headers['x-runyard-compat'] === 'agentos';
  return asked ? 'agentos' : 'runyard';
}

/** The status of a run as the wire shows it. */
export function statusIn(format: WireFormat, status: string): string {
  return format === 'agentos' ? status.toUpperCase() : status;
}

/** When a run was made, as its body shows it. */
export function createdAtIn(format: WireFormat, run: { readonly createdAt: number }): string | number {
  return format === 'agentos' ? Math.floor(run.createdAt / 1000) : new Date(run.createdAt).toISOString();
}

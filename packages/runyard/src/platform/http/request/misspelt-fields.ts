import { z } from 'zod';
import { nearestName } from '../../../core/nearest-name.js';

const mostNames = 20;
const longestName = 64;

/**
 * A hint about unknown fields of a form that look like a known one. Such fields are legal (hooks see
 * them), so they are no fault; a header of the response points a misspelt one out.
 */
export class MisspeltFields {
  readonly #known: ReadonlySet<string>;

  constructor(schema: z.ZodType | undefined) {
    this.#known = new Set(schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
  }

  hintFor(body: unknown): string | undefined {
    if (typeof body !== 'object' || body === null) return undefined;
    const unknown = Object.keys(body).filter((name) => !this.#known.has(name) && name.length <= longestName);
    if (unknown.length === 0) return undefined;
    const hints = unknown.slice(0, mostNames).flatMap((name) => {
      const near = nearestName(name, [...this.#known]);
      return near === undefined ? [] : [`unknown field ${printable(name)}: did you mean "${near}"?`];
    });
    return hints.length === 0 ? undefined : hints.join(' ');
  }
}

/** As a header can carry it. */
function printable(name: string): string {
  return JSON.stringify(name).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Something that a tool, or a step that is a function, did, in whichever process. */
export interface Effect {
  readonly phase: 'begin' | 'effect';
  readonly tool: string;
  readonly run: string;
  /** The id of the call, or `step` and which request it was. */
  readonly call: string;
  readonly key: string;
  readonly pid: number;
  /** Its position in the file: earlier effects have a lower one than later ones. */
  readonly position: number;
}

/** Which request a step belongs to; undefined for the call of a tool. */
export function requestOfStep({ call }: Effect): string | undefined {
  return call.startsWith('step ') ? call.slice('step '.length) : undefined;
}

/** The file that the tools and steps of all processes write to. */
export class EffectLog {
  private readonly file: string;

  constructor(folder: string) {
    this.file = join(folder, 'effects');
  }

  /** Everything that happens from now on has at least this position. */
  get position(): number {
    return statSync(this.file, { throwIfNoEntry: false })?.size ?? 0;
  }

  all(): Effect[] {
    if (this.position === 0) return [];
    let position = 0;
    return readFileSync(this.file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const effect = { ...(JSON.parse(line) as Omit<Effect, 'position'>), position };
        position += Buffer.byteLength(line) + 1;
        return effect;
      });
  }
}

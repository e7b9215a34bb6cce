import { isJsonObject } from '../../json.js';
import type { StepRecord } from '../run.js';
import type { Shape } from './shapes.js';

/** The part of a step that holds the record. */
type Side = 'input' | 'output';

/** A record has this field from its version 2 on. */
const versionField = 'record_version';

/**
 * A kind of record that steps hold, with its name, version and shape. A new optional field needs no new version: a process
 * of the version before ignores it. What such a process would misread does: the process refuses the record by its name.
 */
export interface Codec<T> {
  readonly name: string;
  readonly side: Side;
  readonly version: number;
  readonly shape: Shape<T>;
  /** Another kind whose shape is a part of this one. */
  readonly includes?: Codec<unknown>;
}

type Place = Pick<StepRecord, 'runId' | 'key'>;

/** Stored data that this version cannot read. It is for the log: it names a run, a step and a field. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
}

export function outputRecord<T>(name: string, version: number, shape: Shape<T>): Codec<T> {
  return { name, side: 'output', version, shape };
}

export function inputRecord<T>(name: string, version: number, shape: Shape<T>): Codec<T> {
  return { name, side: 'input', version, shape };
}

/** What a step holds. */
export function read<T>(step: StepRecord, codec: Codec<T>): T {
  return decoded(codec, step[codec.side], step);
}

/** The same, where there may be no step, or nothing in it yet. */
export function readIf<T>(step: StepRecord | undefined, codec: Codec<T>): T | undefined {
  return step === undefined || step[codec.side] === null ? undefined : read(step, codec);
}

/** A value as the record that it has to be. */
export function decoded<T>(codec: Codec<T>, value: unknown, place: Place): T {
  if (fits(codec, value)) return value;
  const { runId, key } = place;
  const fault = faultOf(codec, value);
  throw new UnreadableRecordError(
    `Step '${key}' of run '${runId}' cannot be read: its record '${codec.name}' ${fault}.`,
  );
}

/** A part of a row, such as the input of a run. */
export function readColumn<T>(shape: Shape<T>, value: unknown, row: string, column: string): T {
  const isOf = (given: unknown): given is T => shape(given) === undefined;
  if (isOf(value)) return value;
  throw new UnreadableRecordError(
    `${row} cannot be read: its '${column}' is ${inWords(shape(value) ?? '')}.`,
  );
}

function fits<T>(codec: Codec<T>, value: unknown): value is T {
  if (typeof value !== 'object' || value === null) return faultOf(codec, value) === undefined;
  const known = Checked.by(value);
  if (known !== undefined && (known === codec || known.includes === codec)) return true;
  if (faultOf(codec, value) !== undefined) return false;
  Checked.mark(value, codec);
  return true;
}

function faultOf(codec: Codec<unknown>, value: unknown): string | undefined {
  const version = isJsonObject(value) ? value[versionField] : undefined;
  if (typeof version === 'number' && version > codec.version)
    return `has version ${version}, and this version of Runyard reads up to ${codec.version}: a newer one wrote it`;
  const fault = codec.shape(value);
  if (fault === undefined) return undefined;
  return `is ${inWords(fault)}`;
}

function inWords(fault: string): string {
  return fault === '' ? 'damaged' : `damaged at '${fault}'`;
}

class Itself {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the field of the class below is to be one of the value
    return value;
  }
}

/**
 * Notes in a private field of a record by which codec it was checked last: the steps of a run are folded again and again.
 * A WeakMap takes longer to fill than the check takes.
 */
class Checked extends Itself {
  #codec: Codec<unknown>;

  private constructor(value: object, codec: Codec<unknown>) {
    super(value);
    this.#codec = codec;
  }

  static by(value: object): Codec<unknown> | undefined {
    return #codec in value ? value.#codec : undefined;
  }

  static mark(value: object, codec: Codec<unknown>): void {
    if (#codec in value) value.#codec = codec;
    else new Checked(value, codec);
  }
}

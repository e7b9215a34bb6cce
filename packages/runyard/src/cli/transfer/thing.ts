import type { JsonObject } from '../../core/json.js';
import type { TransferService } from './service.js';

/** Something of a service as a file holds it. */
export interface Thing {
  /** What it is called in reports, and what its file is named after. */
  readonly name: string;
  readonly content: JsonObject;
}

export interface ExportOptions {
  /** All versions of components, and not the current ones alone. */
  readonly allVersions: boolean;
}

export type Action = 'create' | 'change' | 'leave' | 'delete';

/** What an import does about one thing. */
export interface Planned {
  readonly name: string;
  readonly action: Action;
  /** What differs, in words; empty for what is created or left. */
  readonly differences: readonly string[];
  /** All of it is done, or the error says what was. */
  apply(): Promise<void>;
}

/** A file of the folder. */
export interface ThingFile {
  /** As faults name it: `schedules/nightly.json`. */
  readonly path: string;
  readonly content: JsonObject;
}

/** What an import finds wrong with a file. */
export interface FileFault {
  readonly path: string;
  readonly message: string;
}

/** What is planned for a file. */
export interface PlannedFile extends Planned {
  readonly path: string;
}

/** One kind of things that services have. */
export interface TransferKind {
  /** The folder of its files. */
  readonly folder: string;
  export(service: TransferService, options: ExportOptions): Promise<readonly Thing[]>;
  /** What has to be done so that the service has what the files say, in an order in which it can be done. */
  plan(service: TransferService, files: readonly ThingFile[]): Promise<Plan>;
}

export interface Plan {
  readonly files: readonly PlannedFile[];
  readonly faults: readonly FileFault[];
  /** What the service has beyond the files: deleted only when asked. */
  readonly others: readonly Planned[];
}

/** Whether two values are the same JSON. The order of keys counts: that of a schema matters to models. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

export const nothing = async (): Promise<void> => {};

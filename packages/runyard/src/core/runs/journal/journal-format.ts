import type { Run } from '../run.js';

/**
 * The format of the journals that this version writes. Raise it whenever the version of a codec is raised: during a
 * rolling deploy, processes of the version before then leave the runs that this one has written to those that can read
 * them. A test compares it with the codecs.
 */
export const journalFormat: number = 1;

/** A later format stands before the fingerprint in `Run.definition`: `2.fingerprint`. The first one has no mark. */
const marked = /^(\d+)\.(.*)$/;

type Defined = Pick<Run, 'definition'>;

/** What a run stores about what it is executed with. */
export function definitionOf(fingerprint: string | null | undefined): string | null {
  return journalFormat === 1 ? (fingerprint ?? null) : `${journalFormat}.${fingerprint ?? ''}`;
}

/** The fingerprint of the definition that the run was executed with last; null when it has none. */
export function fingerprintIn({ definition }: Defined): string | null {
  const [, , fingerprint = definition] = marked.exec(definition ?? '') ?? [];
  return fingerprint === '' ? null : fingerprint;
}

/** Whether a newer version has written in the journal of the run what this one may not be able to read. */
export function isOfNewerFormat({ definition }: Defined): boolean {
  return Number(marked.exec(definition ?? '')?.[1] ?? 1) > journalFormat;
}

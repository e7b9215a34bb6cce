import type { ReaderDescription } from './reader-table.js';

/** What a reader is chosen by. */
export interface Readable {
  /** What the request names; it decides alone. */
  readonly readerId?: string | undefined;
  /** The file name or path. */
  readonly name: string | null;
  readonly mediaType: string | undefined;
}

/**
 * The reader of a content: the named one, else by the file extension, else by the MIME type, else that of texts. Readers
 * of the application come first in the list. Undefined: no reader has the given id.
 */
export function chooseReader<R extends ReaderDescription>(
  readers: readonly R[],
  { readerId, name, mediaType }: Readable,
): R | undefined {
  if (readerId !== undefined) return readerWithId(readers, readerId);
  const forType = (type: string | undefined) =>
    type === undefined ? undefined : readers.find(({ types }) => types.includes(type));
  return forType(extensionOf(name)) ?? forType(mediaType) ?? readers.find(({ id }) => id === 'text');
}

/** `PDF Reader`, `pdf-reader` and `PDFReader` name the reader `pdf`; a reader of the application also by its exact id. */
export function readerWithId<R extends ReaderDescription>(readers: readonly R[], id: string): R | undefined {
  const exact = readers.find((reader) => reader.id === id);
  if (exact !== undefined) return exact;
  const key = id.trim().toLowerCase().replace(/[\s-]/g, '_');
  const short = key.replace(/_?reader$/, '');
  return readers.find((reader) => reader.id === key) ?? readers.find((reader) => reader.id === short);
}

/** The ids of the readers of each type, preferred ones first, as `/knowledge/config` shows them. */
export function readersForType(readers: readonly ReaderDescription[]): Record<string, string[]> {
  const types = new Set(readers.flatMap((reader) => reader.types).filter((type) => !type.includes('/')));
  return Object.fromEntries(
    Array.from(types, (type) => [
      type,
      readers.filter((reader) => reader.types.includes(type)).map(({ id }) => id),
    ]),
  );
}

/** With its dot, in lower case; undefined where the name has none. */
export function extensionOf(name: string | null): string | undefined {
  const last = name?.replace(/^.*[\\/]/, '') ?? '';
  const dot = last.lastIndexOf('.');
  return dot < 0 || dot === last.length - 1 ? undefined : last.slice(dot).toLowerCase();
}

const MiB = 1_048_576;

/** What reading one content may cost. A content that needs more fails; its error names the bound. */
export interface DocumentLimits {
  /** Files that are read as a whole (PDF, office, zip, e-mail, HTML), in bytes. */
  readonly wholeFileBytes: number;
  /** HTML pages, which become a tree in memory, in bytes. */
  readonly htmlBytes: number;
  /** What the entries of an archive and of those in it inflate to, together, in bytes. */
  readonly inflatedBytes: number;
  /** What one entry inflates to, in bytes. */
  readonly entryBytes: number;
  /** Entries of an archive and of those in it, and attachments, together. */
  readonly entries: number;
  /** Archives and messages within each other. */
  readonly depth: number;
  /** Pages of a PDF, slides of a presentation, sheets of a workbook. */
  readonly pages: number;
  /** Rows of a CSV file, or of one sheet. */
  readonly rows: number;
  /** Characters of one row of a CSV file. */
  readonly rowCharacters: number;
  /** Characters of all documents of a file that is read as a whole. */
  readonly characters: number;
  /** How long the parser may work without giving anything back, in milliseconds. */
  readonly silenceMs: number;
  /** How long it may work on one content in all, in milliseconds. Waiting for bytes or for the indexing does not count. */
  readonly workMs: number;
  /** The heap of the process, in MiB. */
  readonly heapMib: number;
  /** Processes that parse at the same time. Further contents wait. */
  readonly processes: number;
  /** An idle process ends after this time, in milliseconds. */
  readonly idleMs: number;
}

export const defaultLimits: DocumentLimits = {
  wholeFileBytes: 256 * MiB,
  htmlBytes: 32 * MiB,
  inflatedBytes: 1024 * MiB,
  entryBytes: 256 * MiB,
  entries: 10_000,
  depth: 3,
  pages: 10_000,
  rows: 10_000_000,
  rowCharacters: MiB,
  characters: 256 * MiB,
  silenceMs: 60_000,
  workMs: 1_200_000,
  heapMib: 512,
  processes: 2,
  idleMs: 30_000,
};

/** Bytes as people write them: `256 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes >= 1024 * MiB && bytes % (1024 * MiB) === 0) return `${bytes / (1024 * MiB)} GiB`;
  if (bytes >= MiB && bytes % MiB === 0) return `${bytes / MiB} MiB`;
  return `${bytes} bytes`;
}

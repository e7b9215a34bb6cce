import { ContentUnreadable, type ReadableContent } from '../../../core/knowledge/readers/reader.js';
import { type ArchiveEntry, archiveEntries, inflate } from '../archive.js';
import { gathered, type ParseBudget } from '../parse-budget.js';

/** The parts of an Office file (`word/document.xml`), each inflated when it is asked for, within the bounds. */
export class OfficeFile {
  readonly #entries: Map<string, ArchiveEntry>;

  private constructor(
    private readonly bytes: Uint8Array,
    private readonly budget: ParseBudget,
  ) {
    this.#entries = new Map(archiveEntries(bytes, budget).map((entry) => [entry.path, entry]));
  }

  /** `newer` is the extension that a file in the format of before 2007 should have. */
  static async open(content: ReadableContent, budget: ParseBudget, newer: string): Promise<OfficeFile> {
    const bytes = await gathered(content, budget.limits.wholeFileBytes);
    if (bytes[0] === 0xd0 && bytes[1] === 0xcf && bytes[2] === 0x11 && bytes[3] === 0xe0)
      throw new ContentUnreadable(
        `The file is in the format of Office 97-2003 or is encrypted: save it as ${newer} without a password`,
      );
    if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) throw new ContentUnreadable();
    return new OfficeFile(bytes, budget);
  }

  get paths(): string[] {
    return [...this.#entries.keys()];
  }

  part(path: string): Uint8Array | undefined {
    const entry = this.#entries.get(path);
    return entry === undefined ? undefined : inflate(this.bytes, entry, this.budget);
  }

  text(path: string): string {
    return new TextDecoder().decode(this.part(path));
  }

  /** An archive of some of the parts, not compressed: for a library that would inflate without bounds by itself. */
  async repacked(wanted: (path: string) => boolean): Promise<Uint8Array> {
    const { zipSync } = await import('fflate');
    const parts = this.paths
      .filter(wanted)
      .map((path) => [path, this.part(path) ?? new Uint8Array(0)] as const);
    return zipSync(Object.fromEntries(parts), { level: 0 });
  }
}

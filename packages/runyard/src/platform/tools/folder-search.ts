import type { JailedFolder } from './jailed-folder.js';

export interface FoundLines {
  readonly lines: readonly string[];
  /** False when a bound ended the search. */
  readonly complete: boolean;
}

const mostLines = 100;
const mostLinesOfFile = 10;
const mostFiles = 5_000;
const mostBytes = 50_000_000;
const mostBytesOfFile = 1_000_000;
const longestLine = 200;
const deepestFolder = 50;

/** Looks for a text in names and contents, breadth first, within bounds. */
export async function searchFolder(
  folder: JailedFolder,
  path: string,
  text: string,
  signal: AbortSignal,
): Promise<FoundLines> {
  const wanted = text.toLowerCase();
  const folders = [{ path, depth: 0 }];
  const lines: string[] = [];
  let files = 0;
  let bytesLeft = mostBytes;
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    for (const entry of await folder.entries(next.path)) {
      signal.throwIfAborted();
      if (entry.path.toLowerCase().includes(wanted))
        lines.push(entry.kind === 'folder' ? `${entry.path}/` : entry.path);
      if (entry.kind === 'folder') {
        if (next.depth < deepestFolder) folders.push({ path: entry.path, depth: next.depth + 1 });
      } else {
        files += 1;
        const { found, size } = await searchFile(folder, entry.path, wanted);
        lines.push(...found);
        bytesLeft -= size;
      }
      if (lines.length >= mostLines || files >= mostFiles || bytesLeft <= 0)
        return { lines: lines.slice(0, mostLines), complete: false };
    }
  }
  return { lines, complete: true };
}

async function searchFile(
  folder: JailedFolder,
  path: string,
  wanted: string,
): Promise<{ found: string[]; size: number }> {
  // A file that is gone or cannot be read has nothing to find.
  const read = await folder.read(path, 0, mostBytesOfFile).catch(() => undefined);
  if (read === undefined || read.bytes.includes(0)) return { found: [], size: read?.bytes.length ?? 0 };
  const found: string[] = [];
  const lines = new TextDecoder().decode(read.bytes).split('\n');
  for (const [index, line] of lines.entries()) {
    const at = line.toLowerCase().indexOf(wanted);
    if (at < 0) continue;
    const from = Math.max(at - longestLine / 2, 0);
    found.push(`${path}:${index + 1}: ${line.slice(from, from + longestLine).trim()}`);
    if (found.length >= mostLinesOfFile) break;
  }
  return { found, size: read.bytes.length };
}

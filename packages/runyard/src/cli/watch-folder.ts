import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';

const skippedFolders = new Set(['node_modules', 'dist', 'build', 'coverage']);
const watchedFiles = /\.([cm]?[jt]sx?|json|env)$|^\.env/;

/**
 * Calls `changed` with the path of each source file that changes below a folder. One watcher per folder, so that
 * packages and data are never watched: recursive watching would walk through all of them.
 */
export class FolderWatch {
  private readonly watchers = new Map<string, FSWatcher>();

  constructor(private readonly changed: (path: string) => void) {}

  /** With the folders inside. */
  addFolder(folder: string): void {
    this.add(folder, true);
  }

  /** A file wherever it is: its folder alone is watched. */
  addFile(path: string): void {
    this.add(dirname(path), false);
  }

  close(): void {
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private add(folder: string, deep: boolean): void {
    if (this.watchers.has(folder)) return;
    let children: string[];
    try {
      children = readdirSync(folder, { withFileTypes: true })
        .filter(
          (child) => child.isDirectory() && !child.name.startsWith('.') && !skippedFolders.has(child.name),
        )
        .map((child) => join(folder, child.name));
      this.watchers.set(folder, this.watcher(folder, deep));
    } catch {
      // A file, or a folder that went away between being listed and being watched.
      return;
    }
    if (deep) for (const child of children) this.add(child, true);
  }

  private watcher(folder: string, deep: boolean): FSWatcher {
    const watcher = watch(folder, (_kind, name) => {
      if (name === null) return;
      if (watchedFiles.test(name)) this.changed(join(folder, name));
      else if (deep && !name.startsWith('.') && !skippedFolders.has(name)) this.add(join(folder, name), true);
    });
    watcher.on('error', () => {
      watcher.close();
      this.watchers.delete(folder);
    });
    return watcher;
  }
}

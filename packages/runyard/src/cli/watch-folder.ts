import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

const skippedFolders = new Set(['node_modules', 'dist', 'build', 'coverage']);
const watchedFiles = /\.([cm]?[jt]sx?|json|env)$|^\.env/;

/**
 * Calls `changed` with the path of each source file that changes below a folder. One watcher per folder, so that
 * packages and data are never looked at: recursive watching would walk through all of them.
 */
export class FolderWatch {
  private readonly watchers = new Map<string, FSWatcher>();

  constructor(
    root: string,
    private readonly changed: (path: string) => void,
  ) {
    this.add(root);
  }

  close(): void {
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private add(folder: string): void {
    if (this.watchers.has(folder)) return;
    let children: string[];
    try {
      children = readdirSync(folder, { withFileTypes: true })
        .filter(
          (child) => child.isDirectory() && !child.name.startsWith('.') && !skippedFolders.has(child.name),
        )
        .map((child) => join(folder, child.name));
      this.watchers.set(folder, this.watcher(folder));
    } catch {
      // A file, or a folder that went away between being listed and being watched.
      return;
    }
    for (const child of children) this.add(child);
  }

  private watcher(folder: string): FSWatcher {
    const watcher = watch(folder, (_kind, name) => {
      if (name === null) return;
      if (watchedFiles.test(name)) this.changed(join(folder, name));
      else if (!name.startsWith('.') && !skippedFolders.has(name)) this.add(join(folder, name));
    });
    watcher.on('error', () => {
      watcher.close();
      this.watchers.delete(folder);
    });
    return watcher;
  }
}

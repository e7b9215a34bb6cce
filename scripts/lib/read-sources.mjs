import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The source files below a folder without their tests, as a map from path to text. */
export function readSources(folder) {
  return new Map(filesBelow(folder, ''));
}

function filesBelow(folder, below) {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(below, entry.name);
    if (entry.isDirectory()) return filesBelow(folder, path);
    return /(?<!\.test)\.tsx?$/.test(path) ? [[path, readFileSync(join(folder, path), 'utf8')]] : [];
  });
}

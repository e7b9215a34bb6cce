import { readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { fieldsOf } from '../../core/objects.js';
import { version } from '../../platform/version.js';

/**
 * What a `package.json` says so that `npm install` finds this copy of the package. One that no registry may have, such
 * as a checkout or an archive, is named by its place.
 */
export function installedSpec(folder: string): string {
  const end = folder.indexOf(`${sep}node_modules${sep}`);
  if (end < 0) return `file:${folder}`;
  const project = folder.slice(0, end);
  const wanted = wantedBy(project);
  if (/^https?:/.test(wanted)) return wanted;
  // Bun writes the path alone
  const [, place] = /^(?:file:(?!~)|(?=\.{0,2}\/))(.+)$/.exec(wanted) ?? [];
  if (place !== undefined) return `file:${resolve(project, place)}`;
  return wanted.startsWith('file:') ? wanted : `^${version}`;
}

/** npx has a project for what it executes. A global installation has none, and a project may have a damaged file. */
function wantedBy(project: string): string {
  try {
    const described = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const { dependencies, devDependencies } = fieldsOf(described);
    return String(fieldsOf(dependencies).runyard ?? fieldsOf(devDependencies).runyard ?? '');
  } catch {
    return '';
  }
}

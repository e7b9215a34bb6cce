import { existsSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { errorCode } from '../../core/errors/error-code.js';
import { makeFolder } from '../../platform/make-folder.js';
import { CommandFailure } from '../failure.js';
import { projectFiles } from './project-template.js';

/** Writes a new project that runs at once. Nothing that is there already is touched. */
export function init(folder: string | undefined): void {
  const target = resolve(folder ?? '.');
  const files = projectFiles(packageName(basename(target)));
  const existing = Object.keys(files).filter((name) => existsSync(join(target, name)));
  if (existing.length > 0) {
    throw new CommandFailure(
      `${relative(process.cwd(), target) || 'This folder'} already contains ${existing.join(', ')}; nothing was written. Choose another folder.`,
    );
  }
  write(target, files);
  const place = relative(process.cwd(), target);
  console.log(`Created ${Object.keys(files).join(', ')}${place ? ` in ${place}` : ''}. Next:`);
  console.log(`  ${place ? `cd ${quoted(place)} && ` : ''}npm install`);
  console.log('  npm run dev');
}

function write(target: string, files: Readonly<Record<string, string>>): void {
  try {
    makeFolder(target);
    // `wx`: a file that appeared since the check is not overwritten either.
    for (const [name, text] of Object.entries(files)) writeFileSync(join(target, name), text, { flag: 'wx' });
  } catch (error) {
    throw new CommandFailure(`${target} cannot be written (${errorCode(error) ?? error}).`);
  }
}

function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '');
  return name === '' || name === 'runyard' ? 'my-agents' : name;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

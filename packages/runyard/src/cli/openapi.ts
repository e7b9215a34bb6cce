import { writeFileSync } from 'node:fs';
import { errorCode } from '../core/errors/error-code.js';
import { CommandFailure } from './failure.js';
import { findEntry, loadEntry } from './load-entry.js';
import { configure, type SettingFlags } from './setting-flags.js';

/** Writes the API description of the application without serving it. */
export async function openapi(
  entry: string | undefined,
  flags: SettingFlags & { readonly out?: string },
): Promise<void> {
  const application = await loadEntry(findEntry(entry));
  configure(application, flags);
  try {
    const text = `${JSON.stringify(await application.openapi(), null, 2)}\n`;
    if (flags.out === undefined) process.stdout.write(text);
    else save(flags.out, text);
  } finally {
    await application.close({ graceMs: 0 });
  }
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new CommandFailure(`${file} cannot be written (${errorCode(error)}).`);
  }
}

import { CommandFailure } from '../failure.js';
import { findEntry, loadEntry } from '../load-entry.js';
import { configure, type SettingFlags } from '../setting-flags.js';

export interface ReembedFlags extends SettingFlags {
  readonly knowledge?: string;
}

/** Embeds contents anew that another embedder than the one in the code has embedded. */
export async function reembed(
  entry: string | undefined,
  { knowledge, ...flags }: ReembedFlags,
): Promise<void> {
  const application = await loadEntry(findEntry(entry));
  configure(application, flags);
  let done = 0;
  let failed = 0;
  try {
    const embedded = application.reembed(knowledge === undefined ? {} : { knowledge });
    for await (const { knowledge: name, content } of embedded) {
      const { id, status, statusMessage } = content;
      const isDone = status === 'completed';
      if (isDone) done += 1;
      else failed += 1;
      console.log(`${name}: ${content.name ?? id}: ${isDone ? 'done' : `failed: ${statusMessage}`}`);
    }
  } finally {
    await application.close({ graceMs: 0 });
  }
  console.log(`${done} contents embedded anew${failed === 0 ? '' : `, ${failed} failed`}`);
  if (failed > 0)
    throw new CommandFailure('Some contents could not be embedded anew. Run the command again to try those.');
}

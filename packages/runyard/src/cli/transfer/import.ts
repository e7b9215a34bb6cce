import { CommandFailure } from '../failure.js';
import { defaultFolder } from './export.js';
import { assertFolder, readThings } from './folder.js';
import { openTransfer, RefusedRequest, type ServiceFlags, type TransferService } from './service.js';
import type { Action, FileFault, Plan, Planned, TransferKind } from './thing.js';
import { chosenKinds } from './transfer-kinds.js';

export interface ImportFlags extends ServiceFlags {
  readonly dryRun?: boolean;
  readonly only?: string;
  readonly prune?: boolean;
}

/** Brings what the files of a folder say to a service. */
export async function importService(folder = defaultFolder, flags: ImportFlags = {}): Promise<void> {
  const { dryRun = false, only, prune = false, ...where } = flags;
  const kinds = chosenKinds(only);
  await assertFolder(folder);
  const service = await openTransfer(where);
  try {
    await importFrom(folder, service, kinds, { dryRun, prune });
  } finally {
    await service.close();
  }
}

const done: Readonly<Record<Action, string>> = {
  create: 'created',
  change: 'changed',
  leave: 'unchanged',
  delete: 'deleted',
};

/** Exported for tests: the same with an open service. */
export async function importFrom(
  folder: string,
  service: TransferService,
  kinds: readonly TransferKind[],
  { dryRun, prune }: { readonly dryRun: boolean; readonly prune: boolean },
): Promise<void> {
  const faults: FileFault[] = [];
  const counts: Record<Action, number> = { create: 0, change: 0, leave: 0, delete: 0 };
  for (const kind of kinds) {
    const read = await readThings(folder, kind.folder);
    const plan = await kind.plan(service, read.files).catch((error: unknown) => {
      throw error instanceof RefusedRequest
        ? new CommandFailure(`The ${kind.folder} of the service cannot be read: ${error.message}`)
        : error;
    });
    faults.push(...read.faults, ...plan.faults);
    for (const { path, one } of stepsOf(kind, plan, prune && read.faults.length === 0)) {
      const fault = dryRun ? undefined : await applied(one);
      if (fault !== undefined) faults.push({ path, message: fault });
      else {
        counts[one.action] += 1;
        if (one.action !== 'leave') console.log(lineOf(kind, one, dryRun));
      }
    }
  }
  console.log(summary(counts, dryRun));
  if (faults.length === 0) return;
  const texts = faults.map(({ path, message }) => `${path}: ${message}`);
  throw new CommandFailure(`${texts.join('\n')}\n${faults.length} not imported.`);
}

/** What is deleted comes last, in the other order: what refers to others is gone before them. */
function stepsOf(
  { folder }: TransferKind,
  { files, others }: Plan,
  prune: boolean,
): { readonly path: string; readonly one: Planned }[] {
  const removed = prune ? others.map((one) => ({ path: `${folder}: ${one.name}`, one })).reverse() : [];
  return [...files.map((one) => ({ path: one.path, one })), ...removed];
}

/** What went wrong; undefined when nothing did. */
async function applied(one: Planned): Promise<string | undefined> {
  try {
    await one.apply();
    return undefined;
  } catch (error) {
    if (error instanceof CommandFailure || !(error instanceof Error)) throw error;
    return error.message;
  }
}

function lineOf({ folder }: TransferKind, { action, name, differences }: Planned, dryRun: boolean): string {
  const what = differences.length === 0 ? '' : `: ${differences.join(', ')}`;
  return `${folder}: ${name}: ${dryRun ? `would be ${done[action]}` : done[action]}${what}`;
}

function summary(counts: Readonly<Record<Action, number>>, dryRun: boolean): string {
  const parts = [
    `${counts.create} created`,
    `${counts.change} changed`,
    `${counts.leave} unchanged`,
    ...(counts.delete > 0 ? [`${counts.delete} deleted`] : []),
  ];
  return `${dryRun ? 'Dry run: ' : ''}${parts.join(', ')}.`;
}

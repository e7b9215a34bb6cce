import { secretFaults } from '../../core/configs/config-secrets.js';
import { CommandFailure } from '../failure.js';
import { prepareFolder, writeThings } from './folder.js';
import { openTransfer, RefusedRequest, type ServiceFlags, type TransferService } from './service.js';
import type { Thing, TransferKind } from './thing.js';
import { chosenKinds } from './transfer-kinds.js';

export interface ExportFlags extends ServiceFlags {
  readonly allVersions?: boolean;
  readonly only?: string;
  readonly prune?: boolean;
}

export const defaultFolder = 'runyard-export';

/** Writes what a service has beside its code to files. */
export async function exportService(folder = defaultFolder, flags: ExportFlags = {}): Promise<void> {
  const { allVersions = false, only, prune = false, ...where } = flags;
  const kinds = chosenKinds(only);
  const service = await openTransfer(where);
  try {
    await exportTo(folder, service, kinds, { allVersions, prune });
  } finally {
    await service.close();
  }
}

/** Exported for tests: the same with an open service. */
export async function exportTo(
  folder: string,
  service: TransferService,
  kinds: readonly TransferKind[],
  { allVersions, prune }: { readonly allVersions: boolean; readonly prune: boolean },
): Promise<void> {
  prepareFolder(folder);
  const faults: string[] = [];
  for (const kind of kinds) {
    const things = await kind.export(service, { allVersions }).catch((error: unknown) => {
      throw error instanceof RefusedRequest
        ? new CommandFailure(`The ${kind.folder} cannot be read: ${error.message}`)
        : error;
    });
    const left = new Set(things.filter((thing) => hasSecret(kind.folder, thing, faults)));
    const { changed, unchanged, stale } = await writeThings(folder, kind.folder, things, { left, prune });
    console.log(
      `${kind.folder}: ${changed} written, ${unchanged} unchanged${staleText(stale.length, prune)}`,
    );
    if (!prune) for (const path of stale) console.log(`  ${path} is not in the service`);
  }
  console.log(`Exported to ${folder}.`);
  if (faults.length > 0) throw new CommandFailure(`${faults.join('\n')}\n${faults.length} not exported.`);
}

/** Whether it holds a secret, which belongs into no file. Cases of datasets are what people asked. */
function hasSecret(folder: string, { name, content }: Thing, faults: string[]): boolean {
  const { cases: _, ...others } = content;
  const [found] = secretFaults(others);
  if (found !== undefined) faults.push(`${folder}: ${name}: ${found.path} ${found.message}`);
  return found !== undefined;
}

function staleText(count: number, prune: boolean): string {
  if (count === 0) return '';
  return prune ? `, ${count} removed` : `, ${count} of things that are gone (--prune removes them)`;
}

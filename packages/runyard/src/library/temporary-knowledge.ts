import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knowledge } from '../core/knowledge/knowledge.js';
import type { KnowledgeSpace } from '../core/knowledge/knowledge-space.js';
import { silentLog } from '../core/log.js';
import { Runyard } from '../runyard.js';

const opened = new WeakMap<Knowledge, Promise<KnowledgeSpace>>();

/** A knowledge base without a service has one that listens nowhere, with a database that ends with the process. */
export function openTemporary(knowledge: Knowledge): Promise<KnowledgeSpace> {
  const known = opened.get(knowledge);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'runyard-knowledge-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { database } = knowledge.settings;
  const service = new Runyard({
    dataDir: folder,
    knowledge: [knowledge],
    log: silentLog,
    durability: 'process-crash',
    ...(database !== undefined && { databases: { [database]: `sqlite://${join(folder, 'own.db')}` } }),
  });
  const space = service.knowledgeSpaceOf(knowledge);
  opened.set(knowledge, space);
  return space;
}

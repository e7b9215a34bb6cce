import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './pages.js';

/** The sources, read as text: types leave nothing behind that a running test could ask. */
const sources = readAll('packages/runyard/src');

/** The names of the properties that an exported interface itself declares, sorted. */
export function propertiesOf(type: string): string[] {
  const declared = new RegExp(`^export interface ${type}\\b[^\\n]*\\{\\n([\\s\\S]*?)^\\}$`, 'm');
  const bodies = sources.flatMap(({ text }) => declared.exec(text)?.[1] ?? []);
  // Adapters and MCP connections both have a type of that name; the one with retries is the adapters'.
  const body = bodies.find((one) => type !== 'ConnectionOptions' || one.includes('retries'));
  if (body === undefined) throw new Error(`There is no interface ${type}`);
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map((match) => match[1]!).sort();
}

/** The names of all events that the run of an agent may have, sorted. */
export function eventNames(): string[] {
  const names = sources
    .filter(({ path }) => path.includes('/core/agents/'))
    .flatMap(({ text }) =>
      [...text.matchAll(/name: '([A-Z][A-Za-z]+)',\s*payload/g)].map((match) => match[1]!),
    );
  return [...new Set(names)].sort();
}

function readAll(folder: string): { path: string; text: string }[] {
  return readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }));
}

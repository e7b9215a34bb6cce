import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './pages.js';

/** The sources, read as text: types leave nothing behind that a running test could ask. */
const sources = readAll('packages/runyard/src');

/** The names of the properties that an interface itself declares, sorted. */
export function propertiesOf(type: string): string[] {
  const declared = new RegExp(`^(?:export )?interface ${type}\\b[^{]*\\{\\n([\\s\\S]*?)^\\}$`, 'm');
  const bodies = sources.flatMap(({ text }) => declared.exec(text)?.[1] ?? []);
  // Adapters and MCP connections both have a type of that name; the one with retries is the adapters'.
  const body = bodies.find((one) => type !== 'ConnectionOptions' || one.includes('retries'));
  if (body === undefined) throw new Error(`There is no interface ${type}`);
  return namesIn(body);
}

function namesIn(body: string): string[] {
  const name = /^ {2}(?:readonly )?(\w+)\??[:(]/gm;
  return [...body.matchAll(name)].map((match) => match[1]!).sort();
}

function readAll(folder: string): { path: string; text: string }[] {
  return readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }));
}

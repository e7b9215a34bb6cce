import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The licences of the packages that the modules are part of, as the text that their terms ask to be passed on. `others`
 * are those of code in no package of its own.
 */
export function licences(modules, others) {
  const packages = new Map();
  for (const module of modules) {
    const folder = packageFolder(module);
    if (folder === undefined || packages.has(folder)) continue;
    packages.set(folder, JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  }
  const parts = [...packages]
    .map(([folder, manifest]) => ({
      title: `${manifest.name} ${manifest.version}`,
      text: licenceOf(folder, manifest),
    }))
    .concat(others)
    .sort((one, other) => (one.title < other.title ? -1 : 1));
  const line = '-'.repeat(80);
  return [
    'This package contains code of the following packages, under their licences.',
    ...parts.map(({ title, text }) => `${line}\n${title}\n\n${text}`),
    '',
  ].join('\n\n');
}

/** The folder of a package below `node_modules`. */
function packageFolder(module) {
  const path = module.replace(/^\0/, '').replace(/\?.*$/, '');
  return /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path)?.[1];
}

function licenceOf(folder, { name, license, licenses, author }) {
  const names = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file));
  const texts = names.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length > 0) return texts.join('\n\n');
  const terms = license ?? licenses?.map(({ type }) => type).join(', ');
  if (terms === undefined) throw new Error(`${name} has no licence`);
  const by = typeof author === 'string' ? author : author?.name;
  return `Licence: ${terms}${by === undefined ? '' : `, by ${by}`}`;
}

import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { allPages, type Page, readPage, repository } from './pages.js';

const pages = allPages();

test('links between the pages lead somewhere', () => {
  expect(pages.flatMap(brokenLinks)).toEqual([]);
});

test('the files and folders that the pages name are there', () => {
  const named =
    /`((?:packages|scripts|examples|docs|bench|core|platform|capabilities|cli|test)\/[\w./*-]+)`/g;
  const missing = pages
    // An example of something new names what does not exist yet.
    .filter(({ path }) => path !== 'CONTRIBUTING.md')
    .flatMap(({ path, text }) =>
      [...text.matchAll(named)]
        .map((match) => match[1]!)
        .filter((name) => !name.includes('*') && !isThere(name))
        .map((name) => `${path}: ${name}`),
    );
  expect(missing).toEqual([]);
});

function isThere(name: string): boolean {
  return ['', 'packages/runyard/', 'packages/runyard/src/'].some((folder) =>
    existsSync(join(repository, folder, name)),
  );
}

function brokenLinks(page: Page): string[] {
  const prose = page.text.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!)
    .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target))
    .map((target) => `${page.path}: ${target}`);
}

function leadsSomewhere(page: Page, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page.path : posix.join(posix.dirname(page.path), file);
  if (!existsSync(join(repository, path))) return false;
  return anchor === undefined || anchorsOf(readPage(path)).has(anchor);
}

/** As GitHub makes them from headings. */
function anchorsOf({ text }: Page): Set<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map((match) => match[1]!);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

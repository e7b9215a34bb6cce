import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { charactersShown, entriesShown, JsonView } from '../src/ui/content/json-view.js';

const shown = (value: unknown, depth?: number) =>
  renderToStaticMarkup(<JsonView value={value} {...(depth !== undefined && { depth })} />);
const count = (markup: string, part: string) => markup.split(part).length - 1;

test('a value is a tree, and nothing of it is HTML', () => {
  const markup = shown({ '<b>': '<script>alert(1)</script>', list: [1, null, true], none: {}, nil: [] }, 2);
  expect(markup).not.toMatch(/<script|<b>/);
  expect(markup).toContain('&lt;script&gt;');
  for (const part of ['[3]', '{}', '[]', 'null', 'true']) expect(markup).toContain(part);
});

test('of a huge list only the first entries are drawn', () => {
  const markup = shown(Array.from({ length: 200_000 }, (_, at) => at));
  expect(count(markup, 'text-warning')).toBe(entriesShown);
  expect(markup).toContain(`Show ${200_000 - entriesShown} more`);
});

test('of a huge object only the first entries are drawn', () => {
  const markup = shown(Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at])));
  expect(count(markup, 'text-warning')).toBe(entriesShown);
});

test('of a huge text only the beginning is drawn', () => {
  const markup = shown('x'.repeat(5_000_000));
  expect(markup.length).toBeLessThan(charactersShown + 2_000);
  expect(markup).toContain(`Show ${5_000_000 - charactersShown} more characters`);
});

test('only open levels are drawn, however deep the value is', () => {
  let deep: unknown = 'end';
  for (let level = 0; level < 10_000; level += 1) deep = [deep];
  expect(count(shown(deep), 'aria-expanded')).toBe(2);
  expect(count(shown(deep, 5), 'aria-expanded="true"')).toBe(5);
});

test.each([undefined, null, 0, Number.NaN, '', true])('%s is shown', (value) => {
  expect(shown(value)).toContain(value === '' ? '&quot;&quot;' : String(value));
});

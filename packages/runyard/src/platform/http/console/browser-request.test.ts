import { expect, test } from 'vitest';
import { consoleAddress, prefersPage } from './browser-request.js';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

test.each([
  [browser],
  ['text/html'],
  ['TEXT/HTML'],
  ['text/html; charset=utf-8'],
  ['text/html;level=1;q=0.4'],
  ['application/json;q=0.5, text/html;q=0.9'],
  ['application/json, text/html'],
  ['text/html, application/json;q=0'],
])('a page is wanted: %s', (accept) => {
  expect(prefersPage({ accept })).toBe(true);
});

test.each([
  [undefined],
  [''],
  ['*/*'],
  ['text/*'],
  ['application/json'],
  ['application/json, text/html;q=0.5'],
  ['application/json, */*'],
  ['text/html;q=0'],
  ['text/html;q=0.0'],
  ['text/html;q=-1'],
  ['text/html;q=high'],
  ['text/html;q='],
  ['text/htmlx, xtext/html'],
  ['application/xhtml+xml'],
  [','],
  [';'],
])('data is wanted: %s', (accept) => {
  expect(prefersPage(accept === undefined ? {} : { accept })).toBe(false);
});

test.each([
  ['http://yard.example', '/console'],
  ['http://yard.example/', '/console'],
  ['https://yard.example/ai', '/ai/console'],
  ['https://yard.example/ai/yard/', '/ai/yard/console'],
])('the console of %s is at %s', (calledAddress, path) => {
  expect(consoleAddress({ calledAddress })).toBe(path);
});

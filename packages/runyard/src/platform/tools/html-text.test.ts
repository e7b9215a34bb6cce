import { expect, it } from 'vitest';
import { patience } from '../../../test/support/patience.js';
import { readableText } from './html-text.js';

const text = (html: string) => readableText(html, 'https://example.com/folder/page').text;

it('keeps what a reader sees', () => {
  const page = readableText(
    `<!doctype html><html><head><title>A &amp; B</title><style>p { color: red }</style>
    <script>if (1 < 2) document.write("<p>no</p>")</script><body>
    <!-- <p>never</p> --><h1>Head<b>line</b></h1><p>First   line<br>second &#8364;&#x20;5 &unknown; &lt;tag&gt;</p>
    <ul><li>one</li><li>two <a href="../other?a=1&amp;b=2">there</a></ul><noscript>no</noscript>
    <svg><title>Icon</title><text>no</text></svg><img alt="A cat" src=x>
    <table><tr><th>a<th>b<tr><td>1<td>2</table><pre>
  kept   as
    it is</pre>a < b`,
    'https://example.com/folder/page',
  );
  expect(page.title).toBe('A & B');
  expect(page.text.split('\n').filter((line) => line !== '')).toEqual([
    '# Headline',
    'First line',
    'second € 5 &unknown; <tag>',
    '- one',
    '- two [there](https://example.com/other?a=1&b=2)',
    '[image: A cat]',
    '| a | b',
    '| 1 | 2',
    '  kept   as',
    '    it is',
    'a < b',
  ]);
});

it('drops links that are scripts or lead nowhere', () => {
  expect(text('<a href="javascript:alert(1)">run</a> <a href="#top">up</a> <a>x</a>')).toBe('run up x');
  expect(text('<a href=https://a.example/><img alt=logo></a>')).toBe('[[image: logo]](https://a.example/)');
});

it('survives broken markup', () => {
  expect(text('a <b c="')).toBe('a');
  expect(text('a <!-- b')).toBe('a');
  expect(text('</p></a></script>a<script>b')).toBe('a');
  expect(text('<p title="a > b">c</p>')).toBe('c');
  expect(text('<')).toBe('<');
});

it(
  'takes time in proportion to the page, whatever is in it',
  () => {
    const large = 400_000;
    const nested = `${'<a href=x>'.repeat(30_000)}y${'</a>'.repeat(30_000)}`;
    expect(text(nested)).toBe('[y](https://example.com/folder/x)');
    for (const piece of ['<a href="x">', '<a ', '<!--', ' ', '<p>', '</a>', '&amp', '<svg>', '\n', 'x" '])
      expect(text(piece.repeat(large / piece.length)).length).toBeLessThanOrEqual(large);
  },
  patience(),
);

it('reads five megabytes of unfinished markup as text', () => {
  const marks = '<'.repeat(5_000_000);
  expect(readableText(marks, 'https://example.com').text).toBe(marks);
  expect(readableText(`a ${'</'.repeat(2_500_000)} b`, 'https://example.com').text).toHaveLength(5_000_004);
});

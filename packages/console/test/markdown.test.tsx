import { Tokenizer } from 'marked';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { longestSpan } from '../src/ui/content/bounded-markdown.js';
import { Markdown } from '../src/ui/content/markdown.js';
import { longestMarkdown, MarkdownSource } from '../src/ui/content/markdown-source.js';

const shown = (text: string) => renderToStaticMarkup(<Markdown text={text} />);
const read = (text: string) => new MarkdownSource().blocks(text);
const textOf = (markup: string) =>
  markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&');

test('Markdown becomes elements of the page', () => {
  const markup = shown(
    '# Title\n\n- [x] done\n- **strong** *em* ~~gone~~ `code`\n\n| a |\n|--|\n| 1 |\n\n```ts\nlet a;\n```',
  );
  for (const element of ['<h3', '<li', 'checked=""', '<strong>', '<em>', '<del>', '<code', '<td', '<pre'])
    expect(markup).toContain(element);
  expect(shown('5 &lt; 6 &amp; 7 &#65;')).toContain('5 &lt; 6 &amp; 7 A');
});

describe('what a text must not do to the page', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'text <b onclick="alert(1)">bold</b> text',
    '<iframe src="https://evil.example"></iframe>',
    '<style>body{display:none}</style>',
    '<svg><a xlink:href="javascript:alert(1)">x</a></svg>',
    '<!-- --><base href="//evil.example">',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '| <script>alert(1)</script> |\n|--|\n| <img src=x onerror=alert(1)> |',
    '> <form action="//evil.example"><input name=a></form>',
    '```html\n<script>alert(1)</script>\n```',
    '`<script>`',
    '- <meta http-equiv="refresh" content="0">',
    '[<img src=x onerror=alert(1)>](https://example.com)',
  ];
  test.each(hostile)('HTML is shown as text: %s', (text) => {
    // the icons are of the console
    const markup = shown(text).replaceAll(/<svg.*?<\/svg>/g, '');
    expect(markup).not.toMatch(/<(?:script|iframe|style|svg|base|form|meta|b[ >]|img)|<[^>]*\son\w+=/i);
  });

  test.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](java\tscript:alert(1))',
    '[a](&#106;avascript:alert(1))',
    '[a](%6Aavascript:alert(1))',
    '[a](vbscript:x)',
    '[a](data:text/html,<script>alert(1)</script>)',
    '[a](<data:text/html;base64,PHNjcmlwdD4=>)',
    '[a](file:///etc/passwd)',
    '[a](//evil.example)',
    '[a](/console/settings)',
    '[a](blob:https://example.com/1)',
    '<javascript:alert(1)>',
    '[a]: javascript:alert(1)\n\n[a]',
  ])('no link: %s', (text) => {
    expect(shown(text)).not.toMatch(/href|src=/);
  });

  test('links to the web open in a tab of their own, without access to this one', () => {
    expect(shown('[a](https://example.com/b "t")')).toMatch(
      /<a href="https:\/\/example\.com\/b" target="_blank" rel="noopener noreferrer"/,
    );
    expect(shown('[a](https://x/"onmouseover="alert(1))')).not.toContain('"onmouseover="');
  });

  test.each([
    'https://evil.example/seen.png',
    'http://127.0.0.1/',
    'data:image/svg+xml,<svg/>',
    'data:text/html,x',
    'javascript:x',
  ])('no picture is loaded from %s', (address) => {
    expect(shown(`![alt](<${address}>)`)).not.toContain('<img');
  });

  test('a picture that comes with the text is shown', () => {
    expect(shown('![alt](data:image/png;base64,iVBORw0KGgo=)')).toContain('<img src="data:image/png;base64,');
  });
});

describe('texts that are made to be hard', () => {
  const repeated = 10_000;
  const nested: Record<string, string> = {
    quotes: '>'.repeat(repeated),
    'spaced quotes': `${'> '.repeat(repeated)}x`,
    lists: `${'- '.repeat(repeated)}x`,
    'numbered lists': `${'1. '.repeat(repeated)}x`,
    'quotes and lists': `${'> - '.repeat(repeated)}x`,
    brackets: '['.repeat(repeated),
    'closed brackets': '['.repeat(repeated) + ']'.repeat(repeated),
    links: `${'['.repeat(repeated)}a${'](b)'.repeat(repeated)}`,
    emphasis: '*a '.repeat(repeated) + 'b* '.repeat(repeated),
    stars: `${'*'.repeat(repeated)}a`,
    underscores: '_a'.repeat(repeated),
    'parts of addresses': `${'a.'.repeat(repeated)}@`,
    'angle brackets': '<'.repeat(repeated),
    backticks: '`a'.repeat(repeated),
  };
  test.each(Object.keys(nested))('%s neither overflow the stack nor nest deeply', (name) => {
    const markup = shown(nested[name] ?? '');
    let [depth, deepest] = [0, 0];
    for (const [tag] of markup.matchAll(/<\/?(?:blockquote|ul|ol|em|strong|a)\b/g)) {
      depth += tag.startsWith('</') ? -1 : 1;
      deepest = Math.max(deepest, depth);
    }
    expect(deepest).toBeLessThanOrEqual(20);
  });

  test('nothing of a text is lost where it is nested too deeply', () => {
    expect(textOf(shown(`${'> '.repeat(100)}the end`))).toContain('the end');
    expect(textOf(shown(`${'- '.repeat(100)}the end`))).toContain('the end');
  });

  test('what begins at each character is not searched in the whole rest of the text', () => {
    const searches = (['emStrong', 'del', 'url'] as const).map((name) => vi.spyOn(Tokenizer.prototype, name));
    onTestFinished(() => void vi.restoreAllMocks());
    read(`${'*a_ ~~b '.repeat(2_000)}${'a.'.repeat(2_000)}@`);
    for (const { mock } of searches) {
      expect(mock.calls.length).toBeGreaterThan(1_000);
      expect(Math.max(...mock.calls.flatMap(([text, masked = '']) => [text.length, masked.length]))).toBe(
        longestSpan,
      );
    }
  });

  test('emphasis and addresses are found far from the end of a text, as near to it', () => {
    const markup = shown(
      `${'word '.repeat(2_000)}*em* **strong** ~~del~~ https://example.com ${'word '.repeat(2_000)}`,
    );
    for (const part of ['<em>em<', '<strong>strong<', '<del>del<', 'href="https://example.com"'])
      expect(markup).toContain(part);
  });

  test('a text of a megabyte is one plain block', () => {
    const text = '**a** '.repeat(170_000);
    expect(text.length).toBeGreaterThan(1_000_000);
    expect(read(text)).toMatchObject([{ type: 'html', raw: text }]);
    expect(textOf(shown('<b>'.repeat(longestMarkdown)))).toBe('<b>'.repeat(longestMarkdown));
  });
});

describe('a text that grows', () => {
  const whole = '# One\n\nFirst *paragraph*\n\n- a\n- b\n\n```\ncode\n```\n\nLast\n\n> quote\n\nEnd';

  test('ends as the same blocks as the whole text', () => {
    const source = new MarkdownSource();
    for (let end = 1; end <= whole.length; end += 1) source.blocks(whole.slice(0, end));
    expect(source.blocks(whole).map(({ raw }) => raw)).toEqual(read(whole).map(({ raw }) => raw));
  });

  test('keeps the blocks that are settled', () => {
    const source = new MarkdownSource();
    const [first] = source.blocks(whole);
    expect(source.blocks(`${whole} and more`)[0]).toBe(first);
    expect(source.blocks('Another')).toMatchObject([{ raw: 'Another' }]);
  });
});

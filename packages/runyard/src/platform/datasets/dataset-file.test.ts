import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { dataset } from '../../core/evals/datasets/dataset.js';
import { datasetBounds } from '../../core/evals/datasets/given-case.js';
import { datasetFile } from './dataset-file.js';

const folder = mkdtempSync(join(tmpdir(), 'runyard-datasets-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(name: string, content: string) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return datasetFile(path).cases();
}

/** What is wrong with a file, without the folder that it is in. */
async function fault(name: string, content: string): Promise<string> {
  const failed = await read(name, content).then(
    () => new Error('the file was read'),
    (error: Error) => error,
  );
  return failed.message.replace(`${folder}/`, '');
}

const calls = [{ name: 'add', arguments: { a: 1 } }, { name: 'log' }];
const expected = [
  {
    id: 'sum',
    input: 'What is 1, and 2?\nBoth "together"',
    expectedOutput: '3',
    expectedToolCalls: calls,
    metadata: { level: 1 },
  },
  { id: expect.stringMatching(/^[\da-f]{16}$/), input: 'Grüße' },
];

it('reads the same cases from CSV, JSON and JSON Lines', async () => {
  const rows = [
    {
      id: 'sum',
      input: 'What is 1, and 2?\nBoth "together"',
      expected_output: '3',
      expected_tool_calls: ['x', 'y'].map((_, index) => (index === 0 ? calls[0] : 'log')),
      metadata: { level: 1 },
    },
    { input: 'Grüße', metadata: null },
  ];
  const csv = [
    '\uFEFFinput,expected_output,expected_tool_calls,metadata,id',
    '"What is 1, and 2?\nBoth ""together""",3,"[{""name"":""add"",""arguments"":{""a"":1}},""log""]","{""level"":1}",sum',
    '',
    'Grüße,,,,',
  ].join('\n');
  expect(await read('a.csv', csv)).toEqual(expected);
  expect(await read('b.csv', 'id;input\r\nsum;1\r\n')).toEqual([{ id: 'sum', input: '1' }]);
  expect(await read('c.json', JSON.stringify(rows, null, 2))).toEqual(expected);
  expect(await read('d.jsonl', `${rows.map((row) => JSON.stringify(row)).join('\n\n')}\n`)).toEqual(expected);
  expect(await dataset({ name: 'code', cases: [{ ...expected[0], id: 'sum', input: 'q' }] }).cases()).toEqual(
    [{ ...expected[0], input: 'q' }],
  );
});

it('names the file, the line and the field of a fault', async () => {
  const head = 'id,input,metadata\n1,"two\nlines",{}\n';
  expect(await fault('a.csv', `${head}2,q,{x}\n`)).toMatch(
    /^a\.csv, line 4: metadata: the cell is no JSON: /,
  );
  expect(await fault('a.csv', `${head}2,,\n`)).toBe(
    'a.csv, line 4: input: give a text that is not empty, or an object.',
  );
  expect(await fault('a.csv', `${head}1,again,\n`)).toBe(
    "a.csv, line 4: id: another case has the id '1' too.",
  );
  expect(await fault('a.csv', `${head}2,q\n`)).toMatch(
    /^a\.csv, line 4: the row has 2 cells, and the header 3\./,
  );
  expect(await fault('a.csv', 'input,expected_ouput\nq,a\n')).toBe(
    "a.csv, line 1: in the header, 'expected_ouput' is not a field of a case. Did you mean expected_output?",
  );
  expect(await fault('a.csv', 'input\n"a\nb\n')).toBe('a.csv: a quoted cell does not end.');
  expect(await fault('a.csv', 'id\n1\n')).toBe('a.csv, line 1: the header has no column input.');
  expect(await fault('a.jsonl', '{"input":"q"}\n\n{"input":"q","expected_tool_calls":[{"tool":"x"}]}')).toBe(
    'a.jsonl, line 3: expected_tool_calls: entry 1 is neither the name of a tool nor an object with a name.',
  );
  expect(await fault('a.jsonl', '{"input":"q"}\n{"input":\n')).toMatch(
    /^a\.jsonl, line 2: the JSON is malformed/,
  );
  expect(await fault('a.json', '[\n  {"input": "q"},\n  {\n    "input": 3\n  }\n]')).toBe(
    'a.json, line 3: input: give a text that is not empty, or an object.',
  );
  expect(await fault('a.json', '[{"input":"q"}')).toBe(
    'a.json: The JSON is malformed: its array does not end.',
  );
  expect(await fault('a.json', '[]')).toBe('a.json: the file has no cases.');
  expect(await fault('a.txt', 'q')).toMatch(
    /^a\.txt: the format is not known\. Give a file that ends in one of \.json,/,
  );
  const missing = datasetFile(pathToFileURL(join(folder, 'no.csv')));
  expect(missing.name).toBe('no');
  await expect(missing.cases()).rejects.toThrow(/no\.csv: .*ENOENT/);
});

it('bounds the cases and the bytes of a file', async () => {
  const many = '{"input":"q"}\n'.repeat(datasetBounds.cases + 1);
  expect(await fault('a.jsonl', many)).toBe(
    'a.jsonl, line 10001: the file has more than 10000 cases, which is the limit.',
  );
  const long = 'x'.repeat(datasetBounds.caseCharacters);
  expect(await fault('a.jsonl', JSON.stringify({ input: long }))).toMatch(
    /^a\.jsonl, line 1: the case has 10000\d\d characters; the limit is 1000000\.$/,
  );
});

it('makes ids from the input, which stay when cases are moved', async () => {
  const cases = [{ input: 'a' }, { input: 'b' }, { input: 'a' }, { input: { x: 1, y: 2 } }];
  const ids = (await dataset({ name: 'd', cases }).cases()).map(({ id }) => id);
  expect(ids[2]).toBe(`${ids[0]}-2`);
  const moved = await dataset({ name: 'd', cases: [{ input: { y: 2, x: 1 } }, { input: 'b' }] }).cases();
  expect(moved.map(({ id }) => id)).toEqual([ids[3], ids[1]]);
});

it('refuses datasets in code that cannot be meant', () => {
  const made = (options: object) => () => dataset(options as never);
  expect(made({ name: 'd', cases: [] })).toThrow(
    "Dataset 'd': cases is an empty list. Give a list with at least one entry.",
  );
  expect(made({ name: 'd', cases: [{ input: 'a', expectedOuput: 1 }] })).toThrow(
    "Dataset 'd': cases[0].expectedOuput is not an option. Did you mean expectedOutput?",
  );
  expect(
    made({
      name: 'd',
      cases: [
        { id: 'a', input: '1' },
        { id: 'a', input: '2' },
      ],
    }),
  ).toThrow("Dataset 'd': cases[1]: id: another case has the id 'a' too.");
});

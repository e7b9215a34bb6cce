import { expect, it } from 'vitest';
import { offlineEmbedder } from './offline.js';

const handbook = [
  'Employees may take up to 25 days of paid vacation per year. Requests go to the team lead two weeks in advance.',
  'Travel expenses are reimbursed within 30 days. Attach the receipts of hotels, trains and taxis to the form.',
  'The office is open from 7 am to 8 pm. Visitors must sign in at the reception and wear a badge.',
  'Laptops are replaced every four years. Report a lost or stolen device to the IT help desk at once.',
  'Die Reisekosten werden innerhalb von 30 Tagen erstattet, wenn die Belege vorliegen.',
  '有給休暇は年間25日まで取得できます。',
];

const dot = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, index) => sum + value * other[index]!, 0);

it.each([
  ['How many vacation days do I have?', 0],
  ['requesting vacations', 0],
  ['which receipts for my travel expences', 1],
  ['When does the office open?', 2],
  ['my laptop was stolen', 3],
  ['Wann bekomme ich meine Reisekosten erstattet?', 4],
  ['休暇は何日ですか', 5],
])('puts "%s" nearest to the text that answers it', async (query, expected) => {
  const embedder = offlineEmbedder();
  const { vectors } = await embedder.embed(handbook);
  const question = (await embedder.embed([query], { purpose: 'query' })).vectors[0]!;
  const scores = vectors.map((vector) => dot(vector, question));
  expect(scores.indexOf(Math.max(...scores))).toBe(expected);
});

it('makes the same vectors of the length 1 each time', async () => {
  const texts = ['Hello, world', '!!!', '\u0301', '🙂', 'the', 'x', handbook.join('\n')];
  const [first, second] = await Promise.all([offlineEmbedder().embed(texts), offlineEmbedder().embed(texts)]);
  expect(first).toEqual(second);
  for (const vector of first.vectors) {
    expect(vector).toHaveLength(512);
    expect(dot(vector, vector)).toBeCloseTo(1, 5);
  }
  expect(new Set(first.vectors.map(String)).size).toBe(texts.length);
  expect(first.usage.inputTokens).toBeGreaterThan(0);
});

it('takes no notice of case, accents and punctuation', async () => {
  const { vectors } = await offlineEmbedder().embed(['Café Zürich!', 'cafe zurich', 'Cafe\u0301 (ZÜRICH)']);
  for (const vector of vectors) expect(dot(vector, vectors[0]!)).toBeCloseTo(1, 5);
});

it('has vectors of the length that it is given', async () => {
  const embedder = offlineEmbedder({ dimensions: 64 });
  expect(embedder.dimensions).toBe(64);
  expect(() => offlineEmbedder({ dimensions: 0 })).toThrow('dimensions is 0');
  expect((await embedder.embed(['x'])).vectors[0]).toHaveLength(64);
});

import { expect, it } from 'vitest';
import { TokenCounter } from './token-count.js';

const counter = new TokenCounter();

it('counts as gpt-4o does', async () => {
  const texts = ['', 'Likes tea', 'Hello, world!', 'お茶が好き', 'ends with <|endoftext|>'];
  expect(await counter.count(texts)).toEqual([0, 2, 4, 4, 9]);
});

it('counts long texts to the token, and huge words quickly', async () => {
  const sentence = 'The person drinks green tea in the morning, and lives in Zürich.';
  const [one = 0, many] = await counter.count([` ${sentence}`, ` ${sentence}`.repeat(300)]);
  expect(many).toBe(one * 300);
  const [monster = 0] = await counter.count(['日本語'.repeat(20_000)]);
  expect(monster).toBeGreaterThan(10_000);
});

it('answers several concurrent callers, each with their own count', async () => {
  const counts = await Promise.all([counter.count(['Likes tea']), counter.count(['tea', 'tea tea'])]);
  expect(counts).toEqual([[2], [1, 2]]);
});

it.each(['there-is-no-such-tokenizer', './token-count.js'])('estimates with %s', async (tokenizer) => {
  const estimating = new TokenCounter(tokenizer);
  expect(await estimating.count(['', 'abc', 'abcdefgh', 'abcdefghijk'])).toEqual([0, 0, 2, 2]);
  expect(await estimating.count(['abcd'])).toEqual([1]);
});

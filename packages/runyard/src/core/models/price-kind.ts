import { amount, count, objectOf, recordOf, required } from '../options/kinds.js';
import type { ModelPrice } from './prices.js';

const dollars = amount('US dollars, 0 or more', (value) => value >= 0);

const rates = {
  input: required(dollars),
  output: required(dollars),
  cacheRead: dollars,
  cacheWrite: dollars,
  audioInput: dollars,
  audioOutput: dollars,
};

const price = objectOf<ModelPrice>({
  ...rates,
  longContext: objectOf<NonNullable<ModelPrice['longContext']>>({ ...rates, above: required(count(0)) }),
});

export const prices = recordOf(price);

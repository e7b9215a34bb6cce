import { expect, test } from 'vitest';
import { Least } from './least.js';

test.each([1, 7, 100, 5_000])('keeps the %i least distances, of equal ones the first', (wanted) => {
  const distances = Array.from({ length: 3_000 }, (_, at) => (at * 7_919) % 257);
  const least = new Least(wanted, 300);
  for (const [place, distance] of distances.entries())
    if (distance <= least.limit) least.add(distance, place);
  const { places, distances: kept } = least.kept();
  const expected = [...distances.entries()]
    .sort(([one, first], [other, second]) => first - second || one - other)
    .slice(0, wanted)
    .sort(([one], [other]) => one - other);
  expect([...places].map((place, at) => [place, kept[at]])).toEqual(expected);
});

import { expect, it } from 'vitest';
import { signFlipPValue } from './sign-flip-test.js';
import { normalQuantile, studentQuantile, studentTwoSided } from './student-t.js';

/** All choices of signs, one after the other. */
function bruteForce(differences: readonly number[]): number {
  const observed = Math.abs(differences.reduce((sum, value) => sum + value, 0));
  let sums = [0];
  for (const difference of differences) sums = sums.flatMap((sum) => [sum + difference, sum - difference]);
  return sums.filter((sum) => Math.abs(sum) >= observed - 1e-9).length / sums.length;
}

it('is exact for few differences', () => {
  expect(signFlipPValue([1, 1, 1, 1, 1, 1])).toBe(2 / 64);
  for (const differences of [
    [3, 1, -2, 0, 4],
    [0.1, 0.2, -0.3],
    [5, 5, 5, -1, -1, 2, 0, 0],
    [-2, 1],
  ])
    expect(signFlipPValue(differences)).toBeCloseTo(bruteForce(differences), 12);
});

it('says nothing about less than two, and sees no difference in ties', () => {
  expect(signFlipPValue([])).toBeNull();
  expect(signFlipPValue([4])).toBeNull();
  expect(signFlipPValue([0, 0, 0])).toBe(1);
  expect(signFlipPValue([0, 4])).toBe(1);
});

it('comes close to the exact answer for many, whatever their order', () => {
  const many = Array.from({ length: 17 }, (_, index) => (index % 3 === 0 ? -1 : 1) * (1 + (index % 4)));
  const sampled = signFlipPValue(many);
  expect(Math.abs((sampled ?? 0) - bruteForce(many))).toBeLessThan(0.015);
  expect(signFlipPValue([...many].reverse())).toBe(sampled);
  expect(signFlipPValue(many.map(Math.abs))).toBe(1 / 10_000);
});

it('has the values of the tables of Student and of the normal distribution', () => {
  const table: [number, number][] = [
    [1, 12.7062],
    [2, 4.30265],
    [5, 2.57058],
    [10, 2.22814],
    [30, 2.04227],
    [100, 1.98397],
  ];
  for (const [degrees, value] of table) {
    expect(studentQuantile(0.05, degrees)).toBeCloseTo(value, 4);
    expect(studentTwoSided(value, degrees)).toBeCloseTo(0.05, 5);
  }
  // far out in a heavy tail
  expect(studentQuantile(0.001, 1)).toBeCloseTo(1 / Math.tan(0.0005 * Math.PI), 3);
  expect(studentTwoSided(0, 4)).toBe(1);
  // one degree of freedom is the Cauchy distribution
  expect(studentTwoSided(1, 1)).toBeCloseTo(0.5, 9);
  for (const [level, value] of [
    [0.05, 1.959964],
    [0.01, 2.575829],
    [0.5, 0.67449],
  ] as const)
    expect(normalQuantile(level)).toBeCloseTo(value, 5);
});

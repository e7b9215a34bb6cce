/** Student's t distribution: what intervals and tests of means need of it. */

const lanczos = [
  76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2,
  -0.5395239384953e-5,
];

/** The natural logarithm of the gamma function, for positive numbers. */
export function logGamma(x: number): number {
  const base = x + 5.5;
  let series = 1.000000000190015;
  for (const [index, coefficient] of lanczos.entries()) series += coefficient / (x + 1 + index);
  return (x + 0.5) * Math.log(base) - base + Math.log((2.5066282746310007 * series) / x);
}

const tiny = 1e-300;
const mostTerms = 10_000;

/** The continued fraction of the incomplete beta function, by the method of Lentz. */
function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= mostTerms; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    const step = d * c;
    fraction *= step;
    if (Math.abs(step - 1) < 1e-14) break;
  }
  return fraction;
}

function nonZero(value: number): number {
  return Math.abs(value) < tiny ? tiny : value;
}

/** The regularised incomplete beta function. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  // the fraction converges quickly on one side of the mean
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** The probability of a value at least as far from zero as `t`, on either side. */
export function studentTwoSided(t: number, degrees: number): number {
  return incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

/**
 * The value beyond which, on both sides together, this much of the distribution lies; for levels up to a half. Newton's
 * method from the left: the tail is convex, so that no step passes the value.
 */
export function studentQuantile(level: number, degrees: number): number {
  const logScale = logGamma((degrees + 1) / 2) - logGamma(degrees / 2) - Math.log(degrees * Math.PI) / 2;
  // of the normal distribution, whose tails are the lightest
  let value = normalQuantile(level);
  for (let step = 0; step < 100; step++) {
    const excess = studentTwoSided(value, degrees) - level;
    const density = Math.exp(logScale - ((degrees + 1) / 2) * Math.log1p(value ** 2 / degrees));
    const next = value + excess / (2 * density);
    if (!(next - value > 1e-10 * value)) return Math.max(value, next);
    value = next;
  }
  return value;
}

/**
 * The same of the normal distribution, for levels up to a half: the rational approximation of Acklam, exact to nine
 * digits.
 */
export function normalQuantile(level: number): number {
  const tail = level / 2;
  if (tail < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(tail));
    const numerator = polynomial(
      q,
      [
        -7.784894002430293e-3, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
        2.938163982698783,
      ],
    );
    const denominator = polynomial(
      q,
      [7.784695709041462e-3, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1],
    );
    return -numerator / denominator;
  }
  const q = 0.5 - tail;
  const numerator = polynomial(
    q * q,
    [
      -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
      2.506628277459239,
    ],
  );
  const denominator = polynomial(
    q * q,
    [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1],
  );
  return (q * numerator) / denominator;
}

/** The coefficient of the highest power first. */
function polynomial(x: number, coefficients: readonly number[]): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}

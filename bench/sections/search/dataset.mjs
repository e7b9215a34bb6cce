const topics = 1_000;
const vocabulary = 20_000;

/** Always the same numbers for a seed. */
function numbers(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Vectors around topics, as embeddings of texts are, with words that follow the frequencies of a language. The same
 * chunk has the same vector and text each time it is made, so that nothing has to be kept.
 */
export function clustered(dimensions) {
  const random = numbers(7);
  const normal = (next) => Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
  const centres = Array.from({ length: topics }, () =>
    Float32Array.from({ length: dimensions }, () => normal(random)),
  );
  const near = (seed) => {
    const next = numbers(seed);
    const centre = centres[Math.floor(next() * topics)];
    return Float32Array.from(centre, (value) => value + 0.8 * normal(next));
  };
  return {
    vectorOf: (at) => near(at + 1_000),
    query: (at) => near(-1 - at),
    textOf: (at) => textOf(at),
    queryText: (at) => Array.from({ length: 3 }, (_, word) => wordOf(numbers(at * 3 + word)())).join(' '),
  };
}

/** Texts, embedded by the offline embedder. */
export async function embedded(embedder, at, count) {
  const texts = Array.from({ length: count }, (_, index) => textOf(at + index));
  return (await embedder.embed(texts)).vectors;
}

export function textOf(at) {
  const next = numbers(at + 1_000_000);
  return Array.from({ length: 60 }, () => wordOf(next())).join(' ');
}

/** The first words are the common ones. */
function wordOf(chance) {
  const rank = Math.floor(vocabulary ** chance) - 1;
  let word = '';
  for (let rest = rank + 26; rest > 0; rest = Math.floor(rest / 26))
    word += String.fromCharCode(97 + (rest % 26));
  return `w${word}`;
}

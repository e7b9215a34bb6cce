/** A part of an expression that takes characters, and how often. */
interface Item {
  /** Which of the sample characters it takes. */
  readonly takes: ReadonlySet<string>;
  readonly min: number;
  readonly max: number;
}

/** The items of an expression one after the other, for one choice of its alternatives. */
type Path = readonly Item[];

const longestExpression = 500;
const mostPaths = 64;
const mostWays = 4096;
/** A repetition that can end in more places than this is treated like one without end. */
const fewPlaces = 16;

const samples = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), 'é', 'ß', '漢', '٣'];

/**
 * Makes a regular expression that takes no more than its fair time, whatever text it is given: one in which it is
 * never open where a repetition ends and the next one begins. Throws an error that says what is wrong with it.
 */
export function safeExpression(source: string, flags: string): RegExp {
  if (source.length > longestExpression) {
    throw new Error(`it is longer than ${longestExpression} characters`);
  }
  if (!/^[gimsu]*$/.test(flags)) throw new Error('its flags may be g, i, m, s and u');
  const expression = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
  if (expression.test('')) throw new Error('it fits an empty text');
  const paths = new ExpressionReader(source, flags.replace('g', '')).read();
  for (const path of paths) checkPath(path);
  return expression;
}

class ExpressionReader {
  #at = 0;

  constructor(
    private readonly source: string,
    private readonly flags: string,
  ) {}

  read(): Path[] {
    const paths = this.#alternatives();
    if (this.#at < this.source.length) throw new Error(`it cannot be read from '${this.#rest()}' on`);
    return paths;
  }

  /** Up to the end of the group, or of the expression. */
  #alternatives(): Path[] {
    let done: Path[] = [];
    let open: Path[] = [[]];
    while (this.#at < this.source.length && this.source[this.#at] !== ')') {
      if (this.source[this.#at] === '|') {
        this.#at += 1;
        done = bounded([...done, ...open]);
        open = [[]];
        continue;
      }
      const next = this.#item();
      open = bounded(open.flatMap((path) => next.map((items) => [...path, ...items])));
    }
    return bounded([...done, ...open]);
  }

  #item(): Path[] {
    const token = /^(?:\^|\$|\\[bB])/.exec(this.#rest())?.[0];
    if (token !== undefined) {
      this.#at += token.length;
      return [[]];
    }
    if (this.source[this.#at] === '(') return this.#group();
    const character =
      /^(?:\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\c[a-z]|\\.|[\s\S])/iu.exec(
        this.#rest(),
      )?.[0];
    if (character === undefined) throw new Error(`it cannot be read from '${this.#rest()}' on`);
    if (/^\\(?:[1-9]|k)/.test(character)) throw new Error('it refers back to one of its groups');
    this.#at += character.length;
    const { min, max } = this.#quantifier();
    return [[{ takes: this.#taken(character), min, max }]];
  }

  #group(): Path[] {
    const opening = /^\((?:\?(?::|<?[=!]|<\w+>))?/.exec(this.#rest())?.[0] ?? '(';
    const looks = /[=!]$/.test(opening);
    this.#at += opening.length;
    const paths = this.#alternatives();
    this.#at += 1;
    const { min, max } = this.#quantifier();
    if (looks) {
      if (paths.some((path) => path.some(isOpen))) throw new Error('it looks around with an open repetition');
      return [[]];
    }
    if (max <= 1) return min === 0 ? [...paths, []] : paths;
    const [only] = paths;
    if (paths.length !== 1 || only === undefined || only.some((item) => item.min !== item.max)) {
      throw new Error('it repeats a group that can fit in several ways');
    }
    return [[{ takes: new Set(only.flatMap(({ takes }) => [...takes])), min, max }]];
  }

  #quantifier(): { min: number; max: number } {
    const [whole, sign, from, comma, to]: (string | undefined)[] = /^(?:([*+?])|\{(\d+)(,)?(\d+)?\})\??/.exec(
      this.#rest(),
    ) ?? [''];
    this.#at += whole?.length ?? 0;
    if (sign !== undefined)
      return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    if (from === undefined) return { min: 1, max: 1 };
    const min = Number(from);
    if (comma === undefined) return { min, max: min };
    return { min, max: to === undefined ? Number.POSITIVE_INFINITY : Number(to) };
  }

  #taken(character: string): ReadonlySet<string> {
    const single = new RegExp(`^(?:${character})$`, this.flags);
    return new Set(samples.filter((sample) => single.test(sample)));
  }

  #rest(): string {
    return this.source.slice(this.#at);
  }
}

function bounded(paths: Path[]): Path[] {
  if (paths.length > mostPaths) throw new Error('it has too many alternatives');
  return paths;
}

function isOpen({ min, max }: Item): boolean {
  return max - min > fewPlaces;
}

/** An open repetition must be followed by something it cannot match, before the next one that could continue it. */
function checkPath(path: Path): void {
  let ways = 1;
  for (const [index, item] of path.entries()) {
    if (!isOpen(item)) {
      ways *= item.max - item.min + 1;
      continue;
    }
    for (const next of path.slice(index + 1)) {
      const meets = [...next.takes].some((character) => item.takes.has(character));
      if (next.min > 0 && !meets) break;
      if (meets && isOpen(next))
        throw new Error('where one of its repetitions ends and the next begins is open');
    }
  }
  if (ways > mostWays) throw new Error('it can fit in too many ways');
}

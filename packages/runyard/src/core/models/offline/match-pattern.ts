/** Whether the text fits the pattern; undefined where trying could take forever. */
export function fitsPattern(pattern: string, text: string): boolean | undefined {
  if (text.length > longestChecked || !isHarmless(pattern)) return undefined;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return undefined;
  }
}

/** With this and with so many choices at most, trying them all is soon done. */
const longestChecked = 64;
const mostChoices = 3;

/**
 * Patterns come with requests: one that backtracks without end must not be executed. Each quantifier that leaves
 * open how often, and each group while there are alternatives, is a choice; the choices multiply.
 */
function isHarmless(pattern: string): boolean {
  const quantifiers = pattern.match(/[+*?]|\{\d*,\d*\}/g)?.length ?? 0;
  const groups = pattern.includes('|') ? (pattern.match(/\(/g)?.length ?? 0) + 1 : 0;
  const choices = quantifiers + groups;
  const repeatedGroup = choices > 0 ? /\)(?:[+*]|\{)/.test(pattern) : false;
  return !repeatedGroup && choices <= mostChoices && pattern.length <= 500;
}

/**
 * Writes a text that fits a regular expression, for the constructs that schemas use: literals, classes, groups,
 * alternatives, quantifiers and anchors. Answers undefined where it cannot.
 */
export function textMatching(pattern: string): string | undefined {
  try {
    const text = new PatternWriter(pattern).write();
    return fitsPattern(pattern, text) === false ? undefined : text;
  } catch {
    return undefined;
  }
}

const longestText = 10_000;

class PatternWriter {
  #at = 0;

  constructor(readonly pattern: string) {}

  write(): string {
    return this.#alternatives();
  }

  /** The first alternative counts; the others are read over. */
  #alternatives(): string {
    const first = this.#sequence();
    while (this.#take('|')) this.#sequence();
    return first;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.pattern.length && !'|)'.includes(this.#peek())) text += this.#quantified();
    return text;
  }

  #quantified(): string {
    const unit = this.#unit();
    const least = this.#least();
    this.#take('?');
    if (unit.length * least > longestText) throw new Error('too long');
    return unit.repeat(least);
  }

  #least(): number {
    if (this.#take('*') || this.#take('?')) return 0;
    if (this.#take('+')) return 1;
    const bounds = /^\{(\d+)(?:,\d*)?\}/.exec(this.pattern.slice(this.#at));
    if (!bounds) return 1;
    this.#at += bounds[0].length;
    return Number(bounds[1]);
  }

  #unit(): string {
    const character = this.#next();
    if (character === '^' || character === '$') return '';
    if (character === '.') return 'a';
    if (character === '[') return this.#class();
    if (character === '(') return this.#group();
    if (character === '\\') return this.#escape(this.#next());
    return character;
  }

  #group(): string {
    const opening = /^\?(?::|<[a-zA-Z]\w*>|([=!])|<[=!])/.exec(this.pattern.slice(this.#at));
    if (opening) this.#at += opening[0].length;
    const text = this.#alternatives();
    if (!this.#take(')')) throw new Error('unclosed group');
    // What a look-ahead asks for is checked at the end, by the expression itself.
    return opening && /[=!]$/.test(opening[0]) ? '' : text;
  }

  #class(): string {
    const negated = this.#take('^');
    const start = this.#at;
    let first: string | undefined;
    while (this.#peek() !== ']' || this.#at === start) {
      const character = this.#next();
      const value = character === '\\' ? this.#escape(this.#next()) : character;
      first ??= value;
    }
    const body = this.pattern.slice(start, this.#at);
    this.#at++;
    if (!negated) return first ?? '';
    const excluded = new RegExp(`[${body}]`, 'u');
    return [...'a0A-_ .~'].find((candidate) => !excluded.test(candidate)) ?? '';
  }

  #escape(character: string): string {
    if (character === 'd') return '1';
    if (character === 'w' || character === 'D' || character === 'S') return 'a';
    if (character === 's') return ' ';
    if (character === 'W') return '-';
    if (character === 'n') return '\n';
    if (character === 't') return '\t';
    if (character === 'b' || character === 'B') return '';
    if (character === 'p' || character === 'P') {
      const name = /^\{([^}]*)\}/.exec(this.pattern.slice(this.#at));
      this.#at += name?.[0].length ?? 0;
      return name?.[1]?.startsWith('N') ? '1' : name?.[1] === 'Lu' ? 'A' : 'a';
    }
    return character;
  }

  #peek(): string {
    const next = this.pattern[this.#at];
    if (next === undefined) throw new Error('unexpected end');
    return next;
  }

  #next(): string {
    const character = this.#peek();
    this.#at++;
    return character;
  }

  #take(character: string): boolean {
    if (this.pattern[this.#at] !== character) return false;
    this.#at++;
    return true;
  }
}

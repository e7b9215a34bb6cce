/** A line of source code and how deep it is nested. */
export interface Line {
  readonly text: string;
  readonly depth: number;
}

const tabWidth = 4;

/** A blank line is as deep as the one after it, so that it separates units of that level. */
export function indentDepths(texts: readonly string[]): Line[] {
  let below = 0;
  const lines = texts.toReversed().map((text) => {
    if (text.trim() !== '') below = indentOf(text);
    return { text, depth: below };
  });
  return lines.reverse();
}

function indentOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (character === ' ') width += 1;
    else if (character === '\t') width += tabWidth - (width % tabWidth);
    else break;
  }
  return width;
}

/** How many brackets are open at the start of each line; those in strings and comments do not count. */
export function bracketDepths(texts: readonly string[]): Line[] {
  let depth = 0;
  let comment = false;
  return texts.map((text) => {
    const line = { text, depth };
    // strings end with their line at the latest: a lone apostrophe must not swallow the rest of the file
    let quote = '';
    for (let at = 0; at < text.length; at++) {
      const character = text.charAt(at);
      const pair = character + text.charAt(at + 1);
      if (comment) comment = pair !== '*/';
      else if (quote !== '') {
        if (character === '\\') at += 1;
        else if (character === quote) quote = '';
      } else if (pair === '//') break;
      else if (pair === '/*') comment = true;
      else if (character === '"' || character === "'") quote = character;
      else if (character === '(' || character === '[' || character === '{') depth += 1;
      else if (character === ')' || character === ']' || character === '}') depth = Math.max(0, depth - 1);
    }
    return line;
  });
}

/** Lines that continue what is before them: a closing bracket or word, another branch, an opening brace on its own line. */
const continuation =
  /^\s*([\])}]|\{\s*$|(end|else|elif|elsif|elseif|catch|except|finally|rescue|ensure|then|do|done|fi|esac|in|of|where|and|or)\b|\.|&&|\|\||\?|:)/;
/** Comments, decorators, attributes and annotations: they belong to what follows. */
const introduction = /^\s*(\/\/|\/?\*|#|--|;;|@|\[[A-Z#]|"""|''')/;

/** Divides lines into the units of a level: functions, classes, statements, with the comments before them. */
export function* unitsOf(lines: readonly Line[], level: number): Iterable<Line[]> {
  let unit: Line[] = [];
  let onlyIntroduction = true;
  for (const line of lines) {
    const isBlank = line.text.trim() === '';
    const begins = line.depth <= level && !isBlank && !continuation.test(line.text);
    const ended = unit.at(-1)?.text.trim() === '';
    if (begins && unit.length > 0 && (!onlyIntroduction || ended)) {
      yield unit;
      unit = [];
      onlyIntroduction = true;
    }
    unit.push(line);
    if (!isBlank && !introduction.test(line.text)) onlyIntroduction = false;
  }
  if (unit.length > 0) yield unit;
}

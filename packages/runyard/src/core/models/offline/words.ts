/** What can be read from a text with plain rules. */

const smallWords = new Set(
  (
    'a an and any are as at be but by can could do does for from give has have how i if in into is it its let may me ' +
    'my of on or our out please shall she should so tell than that the their them then there these they this those ' +
    'to two us use used user want was we were what when where which who whose why will with would you your'
  ).split(' '),
);

/** Words that mean the same to the rules below, each line led by the word they are replaced with. */
const sameMeaning = [
  'add plus sum total addition +',
  'subtract minus difference subtraction',
  'multiply times product multiplied multiplication *',
  'divide divided quotient division',
  'time clock hour now o’clock',
  'weather temperature rain raining forecast sunny',
  'search find lookup look seek query',
  'remember save note store memorize memorise keep',
  'recall remembered',
  'mail email e-mail',
  'picture image photo',
];

const meaning = new Map(
  sameMeaning.flatMap((line) => {
    const all = line.split(' ');
    return all.map((word) => [word, all[0] ?? word] as const);
  }),
);

/** The lower-case words of a text; identifiers such as `getWeather` and `get_weather` fall into their parts. */
export function words(text: string): string[] {
  const parts = text.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase();
  return (
    parts
      .match(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*|[+*](?<=\d\s*[+*])(?=\s*\d)/gu)
      ?.flatMap((word) => word.split(/[-_]/)) ?? []
  );
}

/** The words that say what a text is about, brought to a common form. */
export function keywords(text: string): Set<string> {
  const found = new Set<string>();
  for (const word of words(text)) {
    const form = keyword(word);
    if (form !== undefined) found.add(form);
  }
  return found;
}

/** The common form of a word; undefined if it says nothing about what a text is about. */
export function keyword(word: string): string | undefined {
  return smallWords.has(word) || (word.length < 2 && !/[+*]/.test(word)) ? undefined : common(word);
}

function common(word: string): string {
  const known = meaning.get(word);
  if (known) return known;
  const stem =
    word.length > 4
      ? word.replace(/(?:ies)$/, 'y').replace(/(?:ing|ed|es|e|s)$/, '')
      : word.replace(/s$/, '');
  return meaning.get(stem) ?? stem;
}

export function overlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let count = 0;
  for (const word of left) if (right.has(word)) count++;
  return count;
}

export function numbersIn(text: string): number[] {
  const found = text.match(/(?<![\p{L}\d.])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\p{L}\d])/gu) ?? [];
  return found.map((number) => Number(number.replaceAll(',', '')));
}

export function quotedIn(text: string): string[] {
  return [...text.matchAll(/"([^"]+)"|“([^“”]+)”|«([^«»]+)»|(?<![\p{L}\d])'([^']+)'(?![\p{L}\d])/gu)].map(
    (match) => match.slice(1).find((part) => part !== undefined) ?? '',
  );
}

/** The value that the text gives a name: `key=value`, `key: value`, `"key": value`, `key is value`, `key value`. */
export function statedValue(name: string, text: string): string | undefined {
  const spoken = words(name).map(escapePattern).join('[\\s_-]*');
  if (spoken === '') return undefined;
  const value = `(?:"([^"\\n]+)"|'([^'\\n]+)'|([^\\s,;"']+))`;
  const strict = new RegExp(`(?<![\\p{L}\\d])"?${spoken}"?\\s*(?:=|:)\\s*${value}`, 'iu').exec(text);
  const match =
    strict ?? new RegExp(`(?<![\\p{L}\\d])${spoken}\\s+(?:is|are|of|=|was)\\s+${value}`, 'iu').exec(text);
  const found = match?.slice(1).find((part) => part !== undefined);
  return found?.replace(/[.!?}\])]+$/, '') || undefined;
}

/** The parts of an enumeration: `tea, milk and sugar`. */
export function enumerated(text: string): string[] {
  return text
    .split(/,|\sand\s/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function sentences(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** Rows of capitalised words that do not begin a sentence: most likely names. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/(?<=[\p{L}\d,:]\s)\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*)*/gu)]
    .map((match) => match[0])
    .filter((name) => name !== 'I' && !name.startsWith('I '));
}

/** A text as a regular expression that matches just that text. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

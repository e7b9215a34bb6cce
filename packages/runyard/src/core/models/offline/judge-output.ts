import type { JsonObject } from '../../json.js';
import type { ModelRequest } from '../model.js';
import { keywords, quotedIn, words } from './words.js';

/** The form in which evals ask for a judgement. */
const judgementFormat = 'judgement';
const longestText = 50_000;

/**
 * A judgement by plain rules: how many words of the expected output the output has; without one, how many of the texts
 * that the criteria quote; without those, how many words of the input. Undefined when the request asks for something else.
 */
export function judgeOutput({ messages, output }: ModelRequest): JsonObject | undefined {
  if (output?.name !== judgementFormat) return undefined;
  const asked = messages.find(({ role }) => role === 'user')?.content ?? '';
  const system = messages.find(({ role }) => role === 'system')?.content ?? '';
  const nonce = /.* ([0-9a-f]{32})\. /s.exec(system)?.[1] ?? '';
  const material = (name: string) => materialIn(asked, `${name} ${nonce}`);
  const written = material('output') ?? '';
  const { share, what } = compared(written, material, system);
  const percent = Math.round(100 * share);
  const reason = `The output has ${percent} % of ${what}. The offline model compares words, and knows nothing of their meaning.`;
  if (output.schema.properties !== undefined && 'passed' in Object(output.schema.properties))
    return { reason, passed: share >= 0.5 };
  return { reason, score: 1 + Math.round(9 * share) };
}

function compared(
  written: string,
  material: (name: string) => string | undefined,
  system: string,
): { share: number; what: string } {
  const said = new Set(words(written));
  const share = (expected: readonly string[], isSaid: (part: string) => boolean): number =>
    expected.length === 0 ? 0 : expected.filter(isSaid).length / expected.length;
  const expected = material('expected_output');
  const criteria = /<criteria>\n([\s\S]*?)\n<\/criteria>/.exec(system)?.[1];
  if (expected !== undefined && criteria === undefined)
    return {
      share: share(words(expected), (word) => said.has(word)),
      what: 'the words of the expected output',
    };
  const quoted = quotedIn(criteria ?? '').map((text) => text.toLowerCase());
  const lower = written.toLowerCase();
  if (quoted.length > 0)
    return { share: share(quoted, (text) => lower.includes(text)), what: 'what the criteria quote' };
  const about = [...keywords(material('input') ?? '')];
  const meant = keywords(written);
  return { share: share(about, (word) => meant.has(word)), what: 'the words of the input' };
}

/** A text between marks that end with the random word of the system message: texts can imitate the marks of others. */
function materialIn(asked: string, mark: string): string | undefined {
  const [, inside] = asked.split(`<${mark}>\n`, 2);
  return inside?.split(`\n</${mark}>`, 1)[0]?.slice(0, longestText);
}

import type { Forgetting } from '../forgetting/forgetting.js';
import type { LongTexts } from './long-texts.js';
import type { RunWrite } from './ports.js';

/** What a write of a run stores of its long texts. Those that the run does not keep are left out. */
export function textsWrite(
  texts: LongTexts | undefined,
  forgetting: Forgetting | undefined,
): RunWrite['texts'] {
  if (texts === undefined || texts.size === 0) return undefined;
  const taken = texts.takeNew();
  const added = forgetting ? taken.filter(({ id, text }) => forgetting.keepsText(id, text)) : taken;
  return { added, idOf: (text) => texts.idOf(text) };
}

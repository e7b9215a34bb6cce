import type { RequirementKind, ToolRequirement } from '../../tools/questions/requirement.js';

/** What the user reads while the run waits: a sentence for each kind of thing that it waits for. */
export function pausedText(requirements: readonly ToolRequirement[]): string {
  const said = requirements.filter(({ silent }) => silent !== true);
  const asked = said.filter(({ askedIn }) => askedIn !== undefined).map(({ message = '' }) => message);
  const sentences = new Map<string, Set<string>>();
  for (const requirement of said) {
    if (requirement.askedIn !== undefined) continue;
    const sentence = sentenceOf(requirement);
    sentences.set(sentence, (sentences.get(sentence) ?? new Set()).add(requirement.toolName));
  }
  const inWords = ([sentence, names]: [string, Set<string>]) => sentence.replace('…', namesOf([...names]));
  return [...Array.from(sentences, inWords), ...asked].join(' ');
}

const words: Readonly<Record<RequirementKind, string>> = {
  confirmation: 'I need your confirmation before I continue with ….',
  user_input: 'I need your input to continue with ….',
  user_feedback: 'I need your answer to continue with ….',
  external_execution: 'I need the result of …, which is executed outside.',
  unknown_outcome: 'I was interrupted: tell me how … ended.',
};

function sentenceOf({ kind, approval }: ToolRequirement): string {
  if (approval?.type !== 'required') return words[kind];
  return kind === 'unknown_outcome'
    ? 'I was interrupted: a person must decide what becomes of ….'
    : 'I need an approval before I continue with ….';
}

function namesOf(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  return quoted.length < 2 ? quoted.join() : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
}

import { describe, expect, test } from 'vitest';
import { JournalSteps, runWith } from '../../../../test/support/components/journal-steps.js';
import type { ContinueFrom } from '../../runs/resume/continuation.js';
import { messagesOf } from '../transcript.js';
import { continuationOf, nextTurn } from './continuation.js';

/** system, user | assistant with two calls, tool, tool | assistant with a call, tool | assistant */
function threeTurns() {
  return new JournalSteps()
    .context('hello', { system: 'Be kind.' })
    .model(0, 'I look', 2)
    .tool(0, 1, 'second')
    .tool(0, 0, 'first')
    .model(1, 'once more', 1)
    .tool(1, 0, 'third')
    .model(2, 'done');
}

function kept(journal: JournalSteps, from: ContinueFrom, run = runWith()) {
  const { steps, messageIndex, turn } = continuationOf(run, journal.steps, from);
  return { keys: steps.map(({ key }) => key), messageIndex, turn };
}

test.each([
  [0, 0, 0],
  [1, 0, 0],
  [2, 2, 0],
  [3, 2, 0],
  [4, 2, 0],
  [5, 5, 1],
  [6, 5, 1],
  [7, 7, 2],
  [8, 8, 3],
])('from %i, %i messages are kept: no tool call loses its result', (from, messages, turn) => {
  const journal = threeTurns();
  const continuation = continuationOf(runWith(), journal.steps, from);
  expect(continuation).toMatchObject({ messageIndex: messages, turn });
  expect(messagesOf(runWith(), continuation.steps)).toEqual(
    messagesOf(runWith(), journal.steps).slice(0, messages),
  );
});

test.each([-1, 9, 99, 1.5])('%d is no place in a run of eight messages', (from) => {
  expect(() => continuationOf(runWith(), threeTurns().steps, from)).toThrow(
    expect.objectContaining({ status: 400, message: 'continue_from must be between 0 and 8' }),
  );
});

test('by name: the end, the last word of the user, before the last answer', () => {
  expect(kept(threeTurns(), 'end')).toMatchObject({ messageIndex: 8, turn: 3 });
  expect(kept(threeTurns(), 'last_user')).toMatchObject({ messageIndex: 2, turn: 0 });
  expect(kept(threeTurns(), 'last_answer')).toMatchObject({ messageIndex: 7, turn: 2 });
  const talk = new JournalSteps().context('a').model(0, 'b').said(2, 1, 'c').model(1, 'd').model(2, 'e');
  expect(kept(talk, 'last_user')).toMatchObject({ messageIndex: 3, turn: 1 });
  expect(kept(talk, 'last_answer')).toMatchObject({ messageIndex: 3, turn: 1 });
});

test('what waits, failed or was broken off is not kept', () => {
  const waits = threeTurns().model(3, 'may I', 2).tool(3, 0, 'yes');
  expect(kept(waits, 'end')).toMatchObject({ messageIndex: 8, turn: 3 });
  const failed = threeTurns().said(2, 3, 'and now?').model(3, '', 0, { status: 'error', output: null });
  expect(kept(failed, 'end')).toMatchObject({ messageIndex: 9, turn: 3 });
  const cut = runWith({
    status: 'cancelled',
    result: { content: 'The an', contentType: 'str', partial: true },
  });
  const spoken = threeTurns().model(3, '', 0, { status: 'running', output: null });
  expect(messagesOf(cut, spoken.steps).at(-1)).toMatchObject({ role: 'assistant', content: 'The an' });
  expect(kept(spoken, 9, cut)).toMatchObject({ messageIndex: 8, turn: 3 });
});

test('a run that never reached its conversation begins anew', () => {
  const refused = new JournalSteps()
    .hook('pre-hook:0', { outcome: 'passed' })
    .hook('pre-hook:1', { outcome: 'refused', message: 'No.', trigger: 'input_not_allowed' });
  expect(kept(refused, 'end')).toEqual({ keys: [], messageIndex: 0, turn: 0 });
});

describe('beside the conversation', () => {
  const compression = (turn: number) => ({ input: { turn } });

  test('what led to it is kept, and what came after it is done again', () => {
    const journal = new JournalSteps()
      .add('dependencies', 'hook', { plan: 'free' })
      .hook('pre-hook:0', { outcome: 'changed', content: 'hello' })
      .auxiliary('pre-hook:0:model:1')
      .hook('pre-hook:1', { outcome: 'crashed', message: 'oops' })
      .auxiliary('pre-hook:1:model:1')
      .context('hello')
      .auxiliary('reasoning:0')
      .model(0, 'I look', 1)
      .add('wait:tool:0:0', 'wait', { answer: 'confirmed', confirmed: true })
      .tool(0, 0, 'first')
      .said(2, 1, null)
      .model(1, 'again', 1)
      .add('wait:tool:1:0', 'wait', { answer: 'confirmed', confirmed: true })
      .tool(1, 0, 'second')
      .auxiliary('compression:tool:0:0', compression(1))
      .model(2, 'done');
    for (const stage of ['output-model', 'parser-model', 'parser-model:repair', 'repair', 'followups'])
      journal.auxiliary(stage);
    journal
      .hook('post-hook:0', { outcome: 'passed' })
      .auxiliary('post-hook:0:model:1')
      .add('answer', 'answer', { text: 'Done!' })
      .auxiliary('session-summary');
    const before = ['dependencies', 'pre-hook:0', 'pre-hook:0:model:1', 'context', 'reasoning:0'];
    const first = ['model:0', 'wait:tool:0:0', 'tool:0:0', 'continue:2'];
    const second = ['model:1', 'wait:tool:1:0', 'tool:1:0', 'compression:tool:0:0'];
    expect(kept(journal, 'end').keys).toEqual([...before, ...first, ...second, 'model:2']);
    expect(kept(journal, 5).keys).toEqual([...before, ...first, ...second]);
    expect(kept(journal, 3).keys).toEqual([...before, ...first]);
    expect(kept(journal, 'last_user').keys).toEqual(before);
    expect(kept(journal, 0).keys).toEqual([]);
  });

  test('messages are kept together with the results of their hooks', () => {
    const journal = new JournalSteps()
      .context('hello')
      .model(0, 'hi')
      .said(2, 1, 'mail ada@example.com')
      .hook('said:2:pre-hook:0', { outcome: 'changed', content: 'mail [email]' })
      .model(1, 'sent')
      .said(3, 2, 'something bad')
      .hook('said:3:pre-hook:0', { outcome: 'refused', message: 'No.', trigger: 'input_not_allowed' });
    expect(messagesOf(runWith(), journal.steps).map(({ content }) => content)).toEqual([
      'hello',
      'hi',
      'mail [email]',
      'sent',
    ]);
    const said = ['continue:2', 'said:2:pre-hook:0', 'model:1'];
    expect(kept(journal, 'end').keys).toEqual(['context', 'model:0', ...said]);
    expect(kept(journal, 2).keys).toEqual(['context', 'model:0']);
  });

  test('what the caller got instead of the model’s words becomes the model’s words', () => {
    const journal = threeTurns().add('answer', 'answer', { text: 'Done!' });
    const { steps } = continuationOf(runWith(), journal.steps, 'end');
    expect(messagesOf(runWith(), steps).at(-1)?.content).toBe('Done!');
  });

  test('an answer that was withheld does not come back', () => {
    const journal = threeTurns().add('answer', 'answer', { text: null });
    expect(kept(journal, 'end')).toMatchObject({ messageIndex: 7, turn: 2 });
    expect(kept(journal, 8)).toMatchObject({ messageIndex: 7, turn: 2 });
    const withCalls = new JournalSteps()
      .context('hello')
      .model(0, 'a secret', 1)
      .tool(0, 0, 'sent')
      .add('answer', 'answer', { text: null });
    const { steps, messageIndex } = continuationOf(runWith(), withCalls.steps, 'end');
    expect(messageIndex).toBe(3);
    expect(messagesOf(runWith(), steps).map(({ content }) => content)).toEqual(['hello', '', 'sent']);
  });
});

test('failed tries stay with their calls, and are no part of the conversation', () => {
  const failed = { status: 'error', output: null } as const;
  const journal = threeTurns()
    .add('model:0:try:1:0', 'try', null, failed)
    .add('tool:1:0:try:1:0', 'try', null, failed);
  const { keys, messageIndex } = kept(journal, 5);
  expect(messageIndex).toBe(5);
  expect(keys).toContain('model:0:try:1:0');
  expect(keys).not.toContain('tool:1:0:try:1:0');
  expect(messagesOf(runWith(), journal.steps)).toEqual(messagesOf(runWith(), threeTurns().steps));
  // a model that was asked twice has made no calls: there is no turn to be finished
  const again = threeTurns().model(3, 'may I', 1).add('model:3:try:1:0', 'try', null, failed);
  expect(continuationOf(runWith(), again.steps, 'end').unfinished).toBeUndefined();
});

test('the next turn of a run that continues where it stands', () => {
  expect(nextTurn([])).toBe(0);
  expect(nextTurn(threeTurns().steps)).toBe(3);
  expect(nextTurn(threeTurns().model(3, '', 0, { status: 'error' }).steps)).toBe(3);
});

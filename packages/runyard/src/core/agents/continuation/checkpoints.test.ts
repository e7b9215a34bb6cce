import { expect, test } from 'vitest';
import { JournalSteps, runWith } from '../../../../test/support/journal-steps.js';
import { messagesOf } from '../transcript.js';
import { checkpointsOf, lastCheckpointIndex, snapshotAt } from './checkpoints.js';

function journal() {
  return new JournalSteps()
    .context('hello')
    .model(0, 'I look', 2)
    .tool(0, 1, 'second\nline')
    .tool(0, 0, 'first')
    .model(1, 'x'.repeat(200));
}

test('one after each batch of tool calls and one at the end', () => {
  const checkpoints = checkpointsOf(runWith(), journal().steps);
  expect(checkpoints).toEqual([
    {
      index: 4,
      continueFrom: 4,
      status: 'running',
      reason: 'checkpoint',
      createdAt: 3_500,
      messageId: 'r1:tool:0:1',
      messageRole: 'tool',
      preview: 'second line',
      isLatest: false,
    },
    {
      index: 5,
      continueFrom: 5,
      status: 'completed',
      reason: 'end',
      createdAt: 99_000,
      messageId: 'r1:model:1',
      messageRole: 'assistant',
      preview: `${'x'.repeat(119)}…`,
      isLatest: true,
    },
  ]);
  expect(lastCheckpointIndex(runWith(), journal().steps)).toBe(4);
});

test('a run that ends with its tools has one place there, and a batch that waits is none', () => {
  const stopped = new JournalSteps().context('hello').model(0, '', 1).tool(0, 0, 'bye');
  expect(checkpointsOf(runWith(), stopped.steps)).toMatchObject([
    { index: 3, reason: 'end', isLatest: true },
  ]);
  const waiting = new JournalSteps().context('hello').model(0, '', 2).tool(0, 0, 'one');
  const paused = runWith({ status: 'paused' });
  expect(checkpointsOf(paused, waiting.steps)).toMatchObject([{ index: 3, reason: 'end', status: 'paused' }]);
  expect(lastCheckpointIndex(paused, waiting.steps)).toBeUndefined();
  expect(checkpointsOf(runWith({ status: 'running', result: null }), [])).toEqual([]);
});

test('a snapshot is the run as it was', () => {
  const { steps } = journal();
  const run = runWith({
    result: { content: 'the end', contentType: 'Answer', extra: { followups: ['?'] }, metrics: { cost: 1 } },
  });
  expect(snapshotAt(run, steps, 5)).toEqual({ run, steps, messageIndex: 5 });
  const cut = snapshotAt(run, steps, 4);
  expect(cut.run.result).toEqual({ content: 'I look', contentType: 'str', metrics: { cost: 1 } });
  expect(messagesOf(cut.run, cut.steps)).toHaveLength(4);
  expect(snapshotAt(run, steps, 3)).toMatchObject({ messageIndex: 1, run: { result: { content: '' } } });
  expect(snapshotAt(run, steps, 0)).toMatchObject({ messageIndex: 0, steps: [] });
  expect(() => snapshotAt(run, steps, 6)).toThrow('message_index must be between 0 and 5');
});

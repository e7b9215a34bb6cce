import { expect, test } from 'vitest';
import { JournalSteps, runWith } from '../../../../test/support/components/journal-steps.js';
import { messagesOf } from '../transcript.js';
import { snapshotAt } from './snapshot.js';

function journal() {
  return new JournalSteps()
    .context('hello')
    .model(0, 'I look', 2)
    .tool(0, 1, 'second\nline')
    .tool(0, 0, 'first')
    .model(1, 'x'.repeat(200));
}

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

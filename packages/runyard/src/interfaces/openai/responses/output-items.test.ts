import { expect, test } from 'vitest';
import { runWith } from '../../../../test/support/components/journal-steps.js';
import type { JsonObject } from '../../../core/json.js';
import { deltaTemplate, serialiseDelta } from '../../../core/runs/events/logged-event.js';
import { OutputItems } from './output-items.js';
import { ResponseFold } from './response-fold.js';

const run = { runId: 'r', componentId: 'clerk' };

test('a text that is written once more after a crash is in another item, and only that counts', () => {
  const items = new OutputItems(run);
  const frames = [
    ...items.text('', 1),
    ...items.text('Once ', 2),
    // the process that takes over begins again
    ...items.text('', 3),
    ...items.text('Twice', 4),
    ...items.close('completed'),
  ];
  expect(items.shown()).toMatchObject([{ id: 'msg_r_4', status: 'completed', content: [{ text: 'Twice' }] }]);
  const ended = frames.filter(({ type }) => type === 'response.output_item.done');
  expect(ended).toMatchObject([{ item: { status: 'incomplete' } }, { item: { status: 'completed' } }]);
});

test('a call that is executed once more is one item', () => {
  const items = new OutputItems(run);
  const tool = { tool_call_id: 'c', tool_name: 'look', tool_args: { what: 'sky' } };
  items.callStarted(tool, 1);
  expect(items.callStarted(tool, 5)).toEqual([]);
  items.callEnded({ ...tool, result: 'blue' }, null, 6);
  expect(items.shown()).toMatchObject([{ id: 'mcp_r_1', output: 'blue', arguments: '{"what":"sky"}' }]);
});

test('an answer that something was made of takes the place of what was said', () => {
  const items = new OutputItems(run);
  items.text('draft', 1);
  items.finalText('{"a":1}', 2);
  items.close('completed');
  expect(items.finalText('{ "a": 1 }', 3)).toEqual([]);
  expect(items.shown()).toMatchObject([{ content: [{ text: '{"a":1}' }] }]);
});

test('numbers of events that a crashed process sent and did not store are not given again', () => {
  const content = { content: '', workflow_agent: false, content_type: 'str', reasoning_content: '' };
  const event = { event: 'RunContent', ...content } as const;
  const template = deltaTemplate(event, { event: 'RunContent', run_id: 'r' });
  const begun = runWith({ runId: 'r' });
  const numbers = (pieces: readonly [number, string][]) => {
    const fold = new ResponseFold(begun, { runId: 'r' });
    // pieces are added at once
    const frames = pieces.flatMap(
      ([at, text]) => fold.add(serialiseDelta(at, template, text)) as JsonObject[],
    );
    return frames.map(({ sequence_number: number }) => Number(number));
  };
  const sent = numbers([
    [0, ''],
    [1, 'Once '],
    [2, 'upon '],
    [3, 'a time'],
  ]);
  expect(sent).toEqual(sent.map((_, at) => at));
  // only the first piece was stored: the process that takes over begins behind the gap
  const after = numbers([
    [0, ''],
    [1, 'Once '],
    [10_002, ''],
    [10_003, 'Once upon a time'],
  ]);
  const again = after.slice(sent.length - 2);
  expect(after.slice(0, 3)).toEqual(sent.slice(0, 3));
  expect(Math.min(...again)).toBeGreaterThan(Math.max(...sent));
});

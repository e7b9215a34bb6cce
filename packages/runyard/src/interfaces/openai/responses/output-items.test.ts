import { expect, test } from 'vitest';
import { OutputItems } from './output-items.js';

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

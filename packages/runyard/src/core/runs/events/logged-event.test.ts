import { describe, expect, test } from 'vitest';
import { LongTexts } from '../journal/long-texts.js';
import {
  decodeBlock,
  deltaTemplate,
  encodeBlock,
  type LoggedEvent,
  serialiseDelta,
  serialiseEvent,
} from './logged-event.js';

const texts = new LongTexts(1);
const base = { created_at: 1, event: 'RunContent', agent_id: 'a', run_id: 'r' } as const;
const content = {
  event: 'RunContent',
  content: '',
  workflow_agent: false,
  content_type: 'str',
  reasoning_content: '',
} as const;

function wire({ index, name, key, data }: LoggedEvent) {
  return { index, name, key, data };
}

describe('a delta made from a template', () => {
  test('is the same JSON as one made from the whole event', () => {
    const template = deltaTemplate(content, base);
    const text = 'quotes " \\ tabs \t newlines \n emoji 🙂 nul \u0000';
    const delta = serialiseDelta(7, template, text);
    expect(JSON.parse(delta.data)).toEqual({ ...base, ...content, content: text, event_index: 7 });
    const whole = serialiseEvent(7, { ...content, content: text }, base, null, texts);
    expect(JSON.parse(delta.data)).toEqual(JSON.parse(whole.data));
  });

  test('fills the field that the event streams', () => {
    const thinking = { event: 'ReasoningContentDelta', reasoning_content: '' } as const;
    const { event } = thinking;
    const tricky = { ...base, event, content: 'said before', agent_name: '"reasoning_content":""' };
    const template = deltaTemplate(thinking, tricky);
    const deltas = ['let me ', 'see "it"\u2028'].map((text, index) => serialiseDelta(index, template, text));
    expect(deltas.map(({ data }) => JSON.parse(data))).toEqual([
      { ...tricky, reasoning_content: 'let me ', event_index: 0 },
      { ...tricky, reasoning_content: 'see "it"\u2028', event_index: 1 },
    ]);
    expect(decodeBlock(0, encodeBlock(deltas)).map(wire)).toEqual(deltas.map(wire));
    expect(encodeBlock(deltas).match(/^t\t/gm)).toHaveLength(1);
  });

  test('is not fooled by names that look like the place of the content', () => {
    const tricky = { ...base, agent_name: '"content":""', agent_id: '{"content":""}' };
    const delta = serialiseDelta(0, deltaTemplate(content, tricky), 'text');
    expect(JSON.parse(delta.data)).toMatchObject({ content: 'text', agent_name: '"content":""' });
  });
});

test('an event stays on one line for clients that take U+2028 and U+2029 for line ends', () => {
  const text = 'one\u2028two\u2029three';
  for (const { data } of [
    serialiseDelta(0, deltaTemplate(content, base), text),
    serialiseEvent(0, { ...content, content: text }, base, null, texts),
  ]) {
    expect(data).not.toMatch(/[\u2028\u2029\n\r]/);
    expect(JSON.parse(data).content).toBe(text);
  }
});

describe('a block', () => {
  test('gives back the events it was made from', () => {
    const first = deltaTemplate(content, base);
    const second = deltaTemplate(content, { ...base, created_at: 2 });
    const events = [
      serialiseEvent(3, { event: 'RunContinued' }, base, 'started:1', texts),
      serialiseDelta(4, first, 'tab\there'),
      serialiseDelta(5, first, ''),
      serialiseDelta(6, second, 'line\nbreak'),
      serialiseEvent(7, { event: 'CustomEvent', tool: { args: '\t\n' } }, base, null, texts),
      serialiseDelta(8, first, 'again'),
    ];
    expect(decodeBlock(3, encodeBlock(events)).map(wire)).toEqual(events.map(wire));
  });

  test('of many deltas costs their text, not their envelopes', () => {
    const template = deltaTemplate(content, base);
    const events = Array.from({ length: 1000 }, (_, index) => serialiseDelta(index, template, 'word '));
    const sent = events.reduce((sum, { data }) => sum + data.length, 0);
    expect(encodeBlock(events).length).toBeLessThan(sent / 8);
  });

  test('that is damaged is refused', () => {
    expect(() => decodeBlock(0, 'x\tnonsense')).toThrow('Event block at index 0 is damaged');
    expect(() => decodeBlock(0, 'd\t"no template"')).toThrow('damaged');
  });
});

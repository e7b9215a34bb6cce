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
const base = { created_at: 1, event: 'RunContent', agent_id: 'a', run_id: 'r' };
const content = { name: 'RunContent', payload: { content: '', content_type: 'str', reasoning_content: '' } };

function wire({ index, name, key, data }: LoggedEvent) {
  return { index, name, key, data };
}

describe('a delta made from a template', () => {
  test('is the same JSON as one made from the whole event', () => {
    const template = deltaTemplate(content, base);
    const text = 'quotes " \\ tabs \t newlines \n emoji 🙂 nul \u0000';
    const delta = serialiseDelta(7, template, text);
    expect(JSON.parse(delta.data)).toEqual({ ...base, ...content.payload, content: text, event_index: 7 });
    const whole = serialiseEvent(
      7,
      { name: 'RunContent', payload: { ...content.payload, content: text } },
      base,
      null,
      texts,
    );
    expect(JSON.parse(delta.data)).toEqual(JSON.parse(whole.data));
  });

  test('fills the field that the event streams', () => {
    const thinking = {
      name: 'ReasoningContentDelta',
      payload: { content: 'said before', reasoning_content: '' },
      streamedField: 'reasoning_content',
    };
    const tricky = { ...base, agent_name: '"reasoning_content":""' };
    const template = deltaTemplate(thinking, tricky);
    const deltas = ['let me ', 'see "it"\u2028'].map((text, index) => serialiseDelta(index, template, text));
    expect(deltas.map(({ data }) => JSON.parse(data))).toEqual([
      { ...tricky, content: 'said before', reasoning_content: 'let me ', event_index: 0 },
      { ...tricky, content: 'said before', reasoning_content: 'see "it"\u2028', event_index: 1 },
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
    serialiseEvent(0, { name: 'RunContent', payload: { content: text } }, base, null, texts),
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
      serialiseEvent(3, { name: 'RunStarted', payload: { model: 'm' } }, base, 'started:1', texts),
      serialiseDelta(4, first, 'tab\there'),
      serialiseDelta(5, first, ''),
      serialiseDelta(6, second, 'line\nbreak'),
      serialiseEvent(7, { name: 'ToolCallStarted', payload: { tool: { args: '\t\n' } } }, base, null, texts),
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

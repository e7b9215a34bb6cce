import { describe, expect, it } from 'vitest';
import { decodeBlock, encodeBlock, LoggedEvent } from '../events/logged-event.js';
import type { RunResult, StepRecord } from '../run.js';
import { packEvents, packSteps, repeatedResult, unpackEvents, unpackSteps } from './packed-journal.js';

const said = 'A line with "quotes", a \\ and \u2028, and \u0004.';

function resultOf(content: RunResult['content']): RunResult {
  return { content, contentType: 'str', metrics: { input_tokens: 4, details: { model: [{ id: 'm' }] } } };
}

function eventsOf(content: RunResult['content'], key = 'end:1:0'): LoggedEvent[] {
  const head = '"agent_id":"a","run_id":"r","session_id":"s","nested_depth":0';
  const metrics = JSON.stringify(resultOf(content).metrics);
  const end = `"content":${JSON.stringify(content)},"metrics":${metrics},"event_index":1`;
  return [
    new LoggedEvent(
      0,
      'RunStarted',
      'started',
      `{"created_at":9,"event":"RunStarted",${head},"event_index":0}`,
    ),
    new LoggedEvent(1, 'RunCompleted', key, `{"created_at":9,"event":"RunCompleted",${head},${end}}`),
  ];
}

function blockOf(events: readonly LoggedEvent[]) {
  return { firstIndex: 0, count: events.length, payload: encodeBlock(events) };
}

describe('a packed journal', () => {
  it.each(['', 'x', 'created_at', said.repeat(20), '\ud800 alone', 1, null, { a: [1, 'b'] }])(
    'has the same steps and events again with the content %j',
    (content) => {
      const result = resultOf(content);
      const stored: RunResult = JSON.parse(JSON.stringify(result));
      const block = blockOf(eventsOf(content));
      const packed = packEvents(block, repeatedResult(result));
      expect(unpackEvents(packed!, stored)).toEqual(block);
      const step: StepRecord = {
        ...{
          runId: 'r',
          seq: 3,
          key: 'model:0',
          kind: 'model',
          name: 'm',
          parentKey: null,
          status: 'completed',
        },
        ...{ attempt: 1, input: null, output: { content }, error: null, startedAt: 1, endedAt: null },
      };
      expect(unpackSteps('r', packSteps([step], repeatedResult(result)), stored)).toEqual([step]);
    },
  );

  it('holds what events repeat, and what the result holds, once', () => {
    const packed = packEvents(blockOf(eventsOf('a long answer')), repeatedResult(resultOf('a long answer')))!;
    expect(packed.split('"agent_id"')).toHaveLength(2);
    expect(packed).not.toContain('a long answer');
    expect(packed).not.toContain('input_tokens');
    // a mark in place of a short text would gain nothing
    const short = packEvents(blockOf(eventsOf('short')), repeatedResult(resultOf('short')))!;
    expect(short).toContain('"content":"short"');
  });

  it.each(['\u0002', '\u0003', '\u0004', '\u0005'])(
    'does not hold events that have a mark themselves: %j',
    (mark) => {
      const events = blockOf(eventsOf('x', `tool:${mark}`));
      expect(packEvents(events, repeatedResult(resultOf('x')))).toBeUndefined();
    },
  );

  it('has marks as if its texts were replaced one after the other, also where they overlap', () => {
    const start = '{"created_at":9,"event":"';
    const origin = '"ababababa":"x","nested_depth":0';
    const repeated = { content: '"abababab"', metrics: '["babababa"]' };
    const texts: readonly (readonly [string, string])[] = [
      ['\u0004', repeated.content],
      ['\u0005', repeated.metrics],
      ['\u0003', origin],
      ['\u0002', start],
    ];
    const pieces = ['"', '["babababa"]', '"abababab"', 'abababab', 'ab', origin, start, '"ababababa"', '\n'];
    const payloads = pieces.flatMap((one) =>
      pieces.flatMap((two) => pieces.map((three) => one + two + three + two + one)),
    );
    for (const rest of payloads) {
      const payload = `e\tRunStarted\tk\t${start}RunStarted",${origin}${rest}`;
      const expected = texts.reduce((short, [mark, text]) => short.replaceAll(text, mark), payload);
      const packed = packEvents({ firstIndex: 0, count: 7, payload }, repeated);
      expect(packed).toBe(`7\n${start}\n${origin}\n${expected}`);
    }
  });

  it('has events that readers can decode', () => {
    const events = eventsOf(said);
    const { firstIndex, payload } = unpackEvents(
      packEvents(blockOf(events), repeatedResult(resultOf(said)))!,
      resultOf(said),
    );
    expect(decodeBlock(firstIndex, payload)).toEqual(events);
  });
});

import { describe, expect, expectTypeOf, test } from 'vitest';
import type { StepRecord } from '../run.js';
import { inputRecord, outputRecord, read, readIf, UnreadableRecordError } from './codec.js';
import {
  either,
  flag,
  list,
  nullable,
  number,
  object,
  optional,
  type Shaped,
  text,
  variant,
} from './shapes.js';

const call = outputRecord(
  'call',
  2,
  object({ id: text, note: optional(nullable(text)), parts: list(object({ size: number })) }),
);

function step(output: unknown, more: Partial<StepRecord> = {}): StepRecord {
  const times = { startedAt: 1, endedAt: 2 };
  const about = { runId: 'r1', seq: 0, key: 'tool:0:1', kind: 'tool', name: 'x', parentKey: null } as const;
  return { ...about, status: 'completed', attempt: 1, input: null, output, error: null, ...times, ...more };
}

describe('a record', () => {
  test('has the type of its shape', () => {
    expectTypeOf<Shaped<typeof call.shape>>().toEqualTypeOf<{
      readonly id: string;
      readonly parts: { readonly size: number }[];
      readonly note?: string | null | undefined;
    }>();
    const codec = variant('outcome', { passed: {}, refused: { why: text } });
    expectTypeOf<Shaped<typeof codec>>().toEqualTypeOf<
      { readonly outcome: 'passed' } | { readonly outcome: 'refused'; readonly why: string }
    >();
  });

  test('is read as it is, also with fields of a later version', () => {
    const output = { id: 'a', parts: [], later: 1 };
    expect(read(step(output), call)).toBe(output);
    expect(read(step({ ...output, record_version: 2 }), call)).toMatchObject({ id: 'a' });
  });

  test.each([
    [null, ''],
    [[], ''],
    [{ parts: [] }, " at 'id'"],
    [{ id: 1, parts: [] }, " at 'id'"],
    [{ id: 'a', parts: {} }, " at 'parts'"],
    [{ id: 'a', parts: [{ size: 1 }, { size: '1' }] }, " at 'parts.1.size'"],
    [{ id: 'a', parts: [], note: 5 }, " at 'note'"],
  ])('that is damaged is named with its run, step and field: %j', (output, place) => {
    const message = `Step 'tool:0:1' of run 'r1' cannot be read: its record 'call' is damaged${place}.`;
    expect(() => read(step(output), call)).toThrow(UnreadableRecordError);
    expect(() => read(step(output), call)).toThrow(message);
  });

  test('of a newer version is refused by its name', () => {
    expect(() => read(step({ record_version: 3, id: 'a', parts: [] }), call)).toThrow(
      "its record 'call' has version 3, and this version of Runyard reads up to 2: a newer one wrote it",
    );
  });

  test('is checked once by each codec', () => {
    let checks = 0;
    const counted = outputRecord('counted', 1, (value: unknown) => {
      checks += 1;
      return object({ id: text })(value);
    });
    const output = Object.freeze({ id: 'a' });
    for (let time = 0; time < 3; time += 1) expect(read(step(output), counted)).toBe(output);
    expect(checks).toBe(1);
    expect(() => read(step(output), call)).toThrow('parts');
    expect(JSON.stringify(output)).toBe('{"id":"a"}');
  });

  test('that is not there yet is undefined', () => {
    const asked = inputRecord('question', 1, object({ by: text }));
    expect(readIf(undefined, call)).toBeUndefined();
    expect(readIf(step(null), call)).toBeUndefined();
    expect(readIf(step(null, { input: { by: 'me' } }), asked)).toEqual({ by: 'me' });
  });

  test('of several shapes is read as the one that fits', () => {
    const shape = either(object({ failure: text }), object({ success: flag }));
    expect([shape({ failure: 'x' }), shape({ success: true }), shape({ success: 1 })]).toEqual([
      undefined,
      undefined,
      'success',
    ]);
  });
});

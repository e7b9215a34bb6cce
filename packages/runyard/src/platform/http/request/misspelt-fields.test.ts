import { expect, test } from 'vitest';
import { z } from 'zod';
import { MisspeltFields } from './misspelt-fields.js';

const fields = new MisspeltFields(z.object({ message: z.string(), session_id: z.string() }));

test.each<[object, string | undefined]>([
  [{ mesage: 'x' }, 'unknown field "mesage": did you mean "message"?'],
  [{ message: 'x', sesion_id: 1 }, 'unknown field "sesion_id": did you mean "session_id"?'],
  [{ message: 'x', colour: 'red' }, undefined],
  [{ 'message\r\nx-evil': 1 }, undefined],
  [{ 'messagé\n': 1 }, 'unknown field "messag\\u00e9\\n": did you mean "message"?'],
])('%j', (body, hint) => {
  expect(fields.hintFor(body)).toBe(hint);
});

test('long and many names cost nothing', () => {
  expect(fields.hintFor({ ['m'.repeat(100_000)]: 1 })).toBeUndefined();
  const many = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [`message${index % 10}${index}`, 1]),
  );
  expect(fields.hintFor(many)?.length ?? 0).toBeLessThan(2_000);
});

import { expect, it } from 'vitest';
import { z } from 'zod';
import { tool } from '../tool.js';
import { inputFieldsOf } from './input-fields.js';

it('shows the arguments that a person fills in as fields', () => {
  const inputSchema = z.object({
    note: z.string().describe('What it is for'),
    count: z.int().nullable(),
    price: z.union([z.number(), z.string()]),
    urgent: z.boolean().default(false),
    tags: z.array(z.string()).optional(),
    place: z.object({ city: z.string() }),
    colour: z.enum(['red', 'blue']),
    whatever: z.any(),
    given: z.string(),
  });
  const made = tool({
    name: 'order',
    description: 'x',
    inputSchema,
    requiresUserInput: true,
    userInputFields: ['note', 'count', 'price', 'urgent', 'tags', 'place', 'colour', 'whatever'],
    execute: () => '',
  });
  expect(inputFieldsOf(made)).toEqual([
    { name: 'note', type: 'str', description: 'What it is for' },
    { name: 'count', type: 'int', description: null },
    { name: 'price', type: 'float', description: null },
    { name: 'urgent', type: 'bool', description: null, optional: true },
    { name: 'tags', type: 'list', description: null, optional: true },
    { name: 'place', type: 'dict', description: null },
    { name: 'colour', type: 'str', description: null },
    { name: 'whatever', type: 'str', description: null },
  ]);
});

it('finds the type of a field behind a reference', () => {
  const inputSchema = {
    type: 'object',
    properties: { size: { $ref: '#/$defs/size' }, loop: { $ref: '#/$defs/loop' } },
    required: ['size', 'loop'],
    $defs: { size: { type: 'integer' }, loop: { $ref: '#/$defs/loop' } },
  };
  const made = tool({
    name: 'order',
    description: 'x',
    inputSchema,
    requiresUserInput: true,
    execute: () => '',
  });
  expect(inputFieldsOf(made).map(({ type }) => type)).toEqual(['int', 'str']);
});

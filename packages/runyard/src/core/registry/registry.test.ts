import { expect, test } from 'vitest';
import { bank, helper, mates } from '../../../test/support/components/whole-components.js';
import { workflow } from '../../index.js';
import { Registry } from './registry.js';

test('knows what components use, also inside teams and workflows', () => {
  const draft = () => 'draft';
  const done = () => true;
  const flow = workflow({ id: 'flow', steps: [draft, mates, helper] });
  const listed = new Registry({
    components: [flow, bank],
    settings: { functions: { done }, schemas: { Order: { type: 'object' } } },
  });
  const names = (type: string) =>
    listed
      .entries(['main'])
      .filter((entry) => entry.type === type)
      .map(({ name }) => name);
  expect(names('function')).toEqual(
    expect.arrayContaining(['draft', 'done', 'greeting', 'clock', 'watch', 'find']),
  );
  expect(names('tool')).toEqual(['pay', 'wire', 'maths']);
  expect(names('agent')).toEqual(['helper', 'Bank']);
  expect(names('team')).toEqual(['mates']);
  expect(names('schema')).toEqual(['Order', 'Ticket', 'bank.output_schema']);
  expect(names('knowledge')).toEqual(['handbook']);
  expect(names('hook')).toEqual(['look', 'checked', 'around']);
  expect(names('memory_manager')).toEqual(['bank']);
  expect(names('db')).toEqual(['main']);
  const shown = listed.entries().find(({ name }) => name === 'wire');
  expect(shown?.metadata).toMatchObject({ is_toolkit: false, requires_confirmation: true });
});

import { describe, expect, test } from 'vitest';
import { agent, team } from '../../../index.js';
import { leaderInstructions } from '../../teams/members/rules.js';
import type { TeamMode } from '../../teams/settings.js';
import { chooseMembers } from './choose-member.js';

const model = 'offline';
const billing = agent({ id: 'billing', name: 'Billing', model, role: 'Invoices, prices and refunds' });
const tech = agent({ id: 'tech', name: 'Tech', model, description: 'Errors and broken devices.\nLogs, too' });
const desk = team({ id: 'desk', model, members: [billing], description: 'Opening hours' });

function chosen(message: string, mode: TeamMode = 'coordinate') {
  const { tools } = team({ id: 't', model, mode, members: [billing, tech, desk] });
  const system = `Be brief.\n${leaderInstructions(mode, [billing, tech, desk])}\n\n- errors are no member`;
  const defined = Array.from(tools.keys(), (name) => ({ name, description: '', inputSchema: {} }));
  return chooseMembers(message, system, defined).map(
    ({ name, arguments: args }) => [name, JSON.parse(args)] as const,
  );
}

describe('the leader of a team on the offline model', () => {
  test('hands the message to the member whose description it is about', () => {
    const message = 'Where is my invoice?';
    expect(chosen(message)).toEqual([['delegate_task_to_member', { member_id: 'billing', task: message }]]);
    expect(chosen('When are your opening hours?')[0]![1]).toMatchObject({ member_id: 'desk' });
  });

  test('gives each sentence to the one it fits, and a routing leader all of it to one', () => {
    const message = 'My device shows errors. Send me the invoice. And look into the logs!';
    expect(chosen(message)).toEqual([
      [
        'delegate_task_to_member',
        { member_id: 'tech', task: 'My device shows errors. And look into the logs!' },
      ],
      ['delegate_task_to_member', { member_id: 'billing', task: 'Send me the invoice.' }],
    ]);
    expect(chosen(message, 'route')).toEqual([
      ['delegate_task_to_member', { member_id: 'tech', task: message }],
    ]);
  });

  test('asks all members of a broadcast', () => {
    expect(chosen('Anything at all', 'broadcast')).toEqual([
      ['delegate_task_to_members', { task: 'Anything at all' }],
    ]);
  });

  test('answers itself when no member fits', () => {
    expect(chosen('Good morning')).toEqual([]);
  });

  test('a model without a team chooses no member', () => {
    expect(chooseMembers('Where is my invoice?', 'Be brief.', [])).toEqual([]);
  });
});

test('a team runs on the offline model from the question to the answer', async () => {
  const clerk = agent({ id: 'clerk', model, role: 'Invoices', instructions: 'Always answer with "Paid."' });
  const { status, content } = await team({ id: 't', model, mode: 'route', members: [clerk, tech] }).run(
    'What about my invoice?',
  );
  expect({ status, content }).toEqual({ status: 'completed', content: 'Paid.' });
});

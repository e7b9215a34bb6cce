import { randomInt, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ScriptedTurn } from '../../src/testing.js';
import { call } from '../support/clients/call.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { type Lookers, runIdOf, storedOf } from './stored.js';
import { type Asked, type Client, type News, type Person, type Place, Refused, type Seen } from './way.js';
import { book, closeDoor, executed } from './yard.js';

/** Where a scenario is played. */
export interface Stage {
  readonly client: Client;
  /** The same way, for another user. */
  readonly stranger: Client;
  /** An ordinary client of the REST interface, for the same user. */
  readonly rest: Client;
  readonly news: readonly News[];
  readonly lookers: Lookers;
}

/** Plays on a stage and returns the run whose traces are to be compared. */
export type Scenario = (stage: Stage) => Promise<Asked>;

const clerk: Place = { plural: 'agents', id: 'clerk' };
const desk: Place = { plural: 'teams', id: 'desk' };
const letters: Place = { plural: 'workflows', id: 'letters' };
const reviewed: Place = { plural: 'workflows', id: 'reviewed' };
const desks: Place = { plural: 'teams', id: 'desks' };
const drafts: Place = { plural: 'workflows', id: 'drafts' };

const calls = (name: string, given: Record<string, unknown> = {}) => ({
  toolCalls: [{ name, id: `call-${name}`, arguments: given as Record<string, never> }],
});

/** A run in a session of its own, with what the models answer in it. */
function asking(place: Place, message: string, ...turns: ScriptedTurn[]): Asked {
  book.write(message, ...turns);
  // Slack has no other sessions than threads, and makes their ids from a channel and a time
  const thread = `17${randomInt(1e8)}.${randomInt(1e6)}`;
  return { ...place, message, sessionId: `${place.id}:D1:${thread}` };
}

const confirmed = (answer: boolean) => (requirement: Body) => ({ ...requirement, confirmation: answer });

/** Starts a run and expects that the client learns how it ended. */
async function ending({ client }: Stage, asked: Asked, expected: Partial<Seen>): Promise<Seen> {
  const seen = await client.start(asked).rested;
  expect(seen).toMatchObject(expected);
  return seen;
}

async function answering({ client }: Stage, asked: Asked, paused: Seen, write: (one: Body) => Body) {
  return client.answer(asked, paused.runId, paused.requirements.map(write));
}

const timesOf = (name: string, runId: string) =>
  executed.filter((one) => one.name === name && one.runId === runId).length;

/** Starts a run that calls `linger`, and waits until it is in there. */
async function lingering(stage: Stage, message: string) {
  const door = closeDoor();
  const asked = asking(clerk, message, calls('linger'), 'That took its time.');
  const following = stage.client.start(asked);
  const runId = await runIdOf(stage.lookers, asked);
  await until('the tool is called', () => timesOf('linger', runId) > 0);
  return { asked, following, runId, door };
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  async 'an agent answers'(stage) {
    const asked = asking(clerk, 'Hello', 'Hello, Ada.');
    await ending(stage, asked, { status: 'completed', content: 'Hello, Ada.' });
    return asked;
  },

  async 'a team answers'(stage) {
    const asked = asking(desk, 'Hello, desk', 'The desk is open.');
    await ending(stage, asked, { status: 'completed', content: 'The desk is open.' });
    return asked;
  },

  async 'a workflow answers'(stage) {
    const asked = asking(letters, 'Write to Grace', 'Dear Grace');
    await ending(stage, asked, { status: 'completed', content: 'Sent: Dear Grace' });
    return asked;
  },

  async 'a factory builds a team without an input'(stage) {
    const asked = asking(desks, 'Hello, desks', 'The desk is built.');
    await ending(stage, asked, { status: 'completed', content: 'The desk is built.' });
    expect(book.requests(asked.message).at(-1)!.messages[0]!.content).toMatch(/A desk for nothing, for /);
    return asked;
  },

  async 'a factory builds a team from the input of the run'(stage) {
    const asked = {
      ...asking(desks, 'Hello, desk for tides', 'Tides come and go.'),
      factoryInput: { topic: 'tides' },
    };
    await ending(stage, asked, { status: 'completed', content: 'Tides come and go.' });
    expect(book.requests(asked.message).at(-1)!.messages[0]!.content).toContain('A desk for tides, for ada');
    return asked;
  },

  async 'a factory builds the workflow of a paused run again'(stage) {
    const words = ['Dear', 'Grace'];
    const asked = { ...asking(drafts, 'A letter in words'), factoryInput: { words } };
    let seen = await ending(stage, asked, { status: 'paused' });
    const { runId } = seen;
    for (const _word of words)
      seen = await stage.client.answer(asked, runId, [{ ...seen.requirements.at(-1), confirmed: true }]);
    expect(seen).toMatchObject({ runId, status: 'completed' });
    expect(String(seen.content).trim()).toBe('Dear Grace');
    return asked;
  },

  async 'what a factory refuses does not run'(stage) {
    const asked = asking(desks, 'Hello, desk', 'The desk is built.');
    const refused = { ...asked, factoryInput: { topic: 'secrets' } };
    expect(await refusalOf(stage.client.start(refused).rested)).toContain('No desk for secrets.');
    const misfit = { ...asked, factoryInput: { topic: 7 } };
    expect(await refusalOf(stage.client.start(misfit).rested)).toContain('factory_input does not fit');
    await ending(stage, asked, { status: 'completed', content: 'The desk is built.' });
    return asked;
  },

  async 'the next run of a session has its history'(stage) {
    const asked = asking(clerk, 'My name is Ada', 'Noted.');
    await ending(stage, asked, { status: 'completed' });
    const next = { ...asked, message: book.write('What is my name?', 'Ada.') };
    await ending(stage, next, { status: 'completed', content: 'Ada.' });
    const said = book
      .requests(next.message)
      .at(-1)!
      .messages.map(({ content }) => content);
    expect(said.slice(-3)).toEqual(['My name is Ada', 'Noted.', 'What is my name?']);
    return asked;
  },

  async 'text arrives while the model writes'(stage) {
    const door = closeDoor();
    const asked = asking(clerk, 'Tell me slowly', { chunks: ['Once ', door.opened, 'upon a time'] });
    const following = stage.client.start(asked);
    if (stage.news.includes('text')) await following.receives('text');
    door.open();
    expect(await following.rested).toMatchObject({ status: 'completed', content: 'Once upon a time' });
    return asked;
  },

  async 'a tool is called once, and the client learns of it'(stage) {
    const { asked, following, runId, door } = await lingering(stage, 'Take your time');
    if (stage.news.includes('tool')) await following.receives('tool');
    door.open();
    const seen = await following.rested;
    expect(seen).toMatchObject({ runId, status: 'completed', content: 'That took its time.' });
    expect(timesOf('linger', runId)).toBe(1);
    return asked;
  },

  async 'a call waits for a confirmation'(stage) {
    const asked = asking(clerk, 'Pay 5', calls('pay', { cents: 5 }), 'It is paid.');
    const paused = await ending(stage, asked, { status: 'paused' });
    expect(timesOf('pay', paused.runId)).toBe(0);
    const ended = await answering(stage, asked, paused, confirmed(true));
    expect(ended).toMatchObject({ runId: paused.runId, status: 'completed', content: 'It is paid.' });
    expect(timesOf('pay', paused.runId)).toBe(1);
    return asked;
  },

  async 'a rejected call is not executed'(stage) {
    const asked = asking(clerk, 'Pay 6', calls('pay', { cents: 6 }), 'Then not.');
    const paused = await ending(stage, asked, { status: 'paused' });
    const ended = await answering(stage, asked, paused, confirmed(false));
    expect(ended).toMatchObject({ runId: paused.runId, status: 'completed', content: 'Then not.' });
    expect(timesOf('pay', paused.runId)).toBe(0);
    return asked;
  },

  async 'a call waits for values of the user'(stage) {
    const asked = asking(clerk, 'A seat to Rome', calls('reserve', { train: 'R1' }), 'You have a seat.');
    const paused = await ending(stage, asked, { status: 'paused' });
    const ended = await answering(stage, asked, paused, (requirement) => ({
      ...requirement,
      user_input_schema: requirement.user_input_schema.map((field: Body) => ({ ...field, value: 7 })),
    }));
    expect(ended).toMatchObject({ status: 'completed', content: 'You have a seat.' });
    return asked;
  },

  async 'a call is executed by the client'(stage) {
    const asked = asking(clerk, 'How hot?', calls('measure', { what: 'heat' }), 'It is hot.');
    const paused = await ending(stage, asked, { status: 'paused' });
    const ended = await answering(stage, asked, paused, (requirement) => ({
      ...requirement,
      external_execution_result: '40 degrees',
    }));
    expect(ended).toMatchObject({ status: 'completed', content: 'It is hot.' });
    return asked;
  },

  async 'a member of a team waits for a confirmation'(stage) {
    const delegate = calls('delegate_task_to_member', { member_id: 'payer', task: 'Pay 7 for me' });
    book.write('Pay 7 for me', calls('pay', { cents: 7 }), 'Paid by the member.');
    const asked = asking(desk, 'Have 7 paid', delegate, 'The member has paid.');
    const paused = await ending(stage, asked, { status: 'paused' });
    const ended = await answering(stage, asked, paused, confirmed(true));
    expect(ended).toMatchObject({
      runId: paused.runId,
      status: 'completed',
      content: 'The member has paid.',
    });
    return asked;
  },

  async 'a step of a workflow waits for a confirmation'(stage) {
    const asked = asking(reviewed, 'a letter');
    const paused = await ending(stage, asked, { status: 'paused' });
    const ended = await answering(stage, asked, paused, (one) => ({ ...one, confirmed: true }));
    expect(ended).toMatchObject({
      runId: paused.runId,
      status: 'completed',
      content: 'Sent: Draft of a letter',
    });
    return asked;
  },

  async 'a call waits for an administrator'(stage) {
    const asked = asking(clerk, 'Release it', calls('release'), 'It is released.');
    const paused = await ending(stage, asked, { status: 'paused' });
    // the user's own yes is no approval
    await expect(answering(stage, asked, paused, confirmed(true))).rejects.toThrow(Refused);
    expect(timesOf('release', paused.runId)).toBe(0);
    const { approval_id } = paused.requirements[0].tool_execution;
    await approve(stage.lookers.admin, approval_id);
    const ended = await answering(stage, asked, paused, (requirement) => requirement);
    expect(ended).toMatchObject({ status: 'completed', content: 'It is released.' });
    expect(timesOf('release', paused.runId)).toBe(1);
    return asked;
  },

  async 'a run that paused elsewhere is found and answered'(stage) {
    const asked = asking(clerk, 'Pay 8', calls('pay', { cents: 8 }), 'Eight are paid.');
    const { runId } = await stage.rest.start(asked).rested;
    const paused = await stage.client.comeBack(asked, runId);
    expect(paused).toMatchObject({ runId, status: 'paused' });
    const ended = await answering(stage, asked, paused, confirmed(true));
    expect(ended).toMatchObject({ status: 'completed', content: 'Eight are paid.' });
    return asked;
  },

  async 'a model fails'(stage) {
    const asked = asking(clerk, 'Break', { error: 'The model is broken' });
    const seen = await ending(stage, asked, { status: 'error' });
    expect(seen.content).toContain('The model is broken');
    return asked;
  },

  async 'a run is cancelled'(stage) {
    const { asked, following, runId, door } = await lingering(stage, 'Stop in the middle');
    await stage.client.cancel(asked, runId);
    expect(await following.rested).toMatchObject({ runId, status: 'cancelled' });
    door.open();
    return asked;
  },

  async 'a paused run is cancelled'(stage) {
    const asked = asking(clerk, 'Pay 9', calls('pay', { cents: 9 }));
    const paused = await ending(stage, asked, { status: 'paused' });
    await stage.client.cancel(asked, paused.runId);
    await expect(answering(stage, asked, paused, confirmed(true))).rejects.toThrow(Refused);
    expect(timesOf('pay', paused.runId)).toBe(0);
    return asked;
  },

  async 'a client that was cut off comes back'(stage) {
    const { asked, following, runId, door } = await lingering(stage, 'Wait for me');
    if (stage.news.includes('tool')) await following.receives('tool');
    following.drop();
    door.open();
    const seen = await stage.client.comeBack(asked, runId, following);
    expect(seen).toMatchObject({ runId, status: 'completed', content: 'That took its time.' });
    expect(timesOf('linger', runId)).toBe(1);
    return asked;
  },

  async 'another user finds nothing'(stage) {
    const asked = asking(clerk, 'Pay 10', calls('pay', { cents: 10 }));
    const { runId, requirements } = await ending(stage, asked, { status: 'paused' });
    const answers = requirements.map(confirmed(true));
    const absent = randomUUID();
    const { stranger } = stage;
    // the service has the same words for a run of another user and for one that does not exist
    const words = async (attempt: (id: string) => Promise<string>) => {
      const said = (await attempt(runId)).replaceAll(runId, '…');
      expect(said).toBe((await attempt(absent)).replaceAll(absent, '…'));
    };
    await words((id) => refusalOf(stranger.answer(asked, id, answers)));
    await words((id) => refusalOf(stranger.comeBack(asked, id)));
    // over REST, a run may be cancelled before it exists
    await words((id) => stranger.cancel(asked, id).then(() => 'accepted', String));
    expect(timesOf('pay', runId)).toBe(0);
    return asked;
  },

  async 'a session of another user is refused'(stage) {
    const asked = asking(clerk, 'This is mine', 'It is yours.');
    await ending(stage, asked, { status: 'completed' });
    const message = book.write('Let me in', 'Come in.');
    await refusalOf(stage.stranger.start({ ...asked, message }).rested);
    return asked;
  },
};

async function approve({ url, headers }: Person, approvalId: string): Promise<void> {
  const { status } = await call(`${url}/approvals/${approvalId}/resolve`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"status":"approved"}',
  });
  expect(status).toBe(200);
}

/** What every client needs, in any form of a protocol. */
export const essentials: ReadonlySet<string> = new Set([
  'an agent answers',
  'a factory builds a team from the input of the run',
  'text arrives while the model writes',
  'a tool is called once, and the client learns of it',
  'a call waits for a confirmation',
  'a model fails',
  'a run is cancelled',
  'a client that was cut off comes back',
  'another user finds nothing',
]);

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const refused = await attempt.then(
    (answer) => new Error(`not refused, but answered with ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(Refused);
  return String((refused as Refused).message);
}

/** Plays a scenario and returns what it left behind. */
export async function traces(scenario: Scenario, stage: Stage): Promise<Body> {
  return storedOf(stage.lookers, await scenario(stage));
}

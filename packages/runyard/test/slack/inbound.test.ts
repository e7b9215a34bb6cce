import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Log, silentLog } from '../../src/core/log.js';
import { agent, Runyard, tool } from '../../src/index.js';
import type { SlackOptions } from '../../src/interfaces.js';
import { loadSqliteLibrary } from '../../src/platform/storage/sqlite/library.js';
import { preparedSqlite } from '../support/databases.js';
import { ScriptBook } from '../support/providers/script-book.js';
import type { Body } from '../support/service.js';
import { fastSlack, hasten } from '../support/slack/fast-slack.js';
import { signedInteraction, signedRequest } from '../support/slack/signed-request.js';
import { SlackDouble } from '../support/slack/slack-double.js';
import { gate, until } from '../support/until.js';

const signingSecret = 'the signing secret';
const encryptionSecret = 'a secret that encrypts tokens in the database';
const book = new ScriptBook();
const paid: string[] = [];
let door = gate();

const clerk = agent({
  id: 'clerk',
  model: book.model,
  instructions: 'You answer in {slack_channel}.',
  tools: [
    tool({
      name: 'pay',
      description: 'Pays',
      requiresConfirmation: true,
      sideEffects: true,
      execute: (_given, { runId }) => {
        paid.push(runId);
        return 'paid';
      },
    }),
    tool({
      name: 'linger',
      description: 'Takes its time',
      execute: async () => {
        await door.opened;
        return 'done';
      },
    }),
  ],
});

/** What the log says of deliveries that were not answered. */
const notes: unknown[] = [];
const log: Log = { ...silentLog, warn: (fields) => void notes.push('note' in fields && fields.note) };
let double: SlackDouble;
let app: Runyard;
let url: string;
const dataDir = mkdtempSync(join(tmpdir(), 'runyard-slack-'));

function mounted(options: Partial<SlackOptions> = {}) {
  return fastSlack({
    agent: clerk,
    signingSecret,
    apiUrl: double.url,
    bufferSize: 1,
    ...(options.oauth === undefined && { token: double.token }),
    ...options,
  });
}

function openApp(): Runyard {
  return new Runyard({
    port: 0,
    dataDir,
    log,
    agents: [clerk],
    interfaces: [
      mounted({ suggestedPrompts: [{ title: 'Hello', message: 'Say hello' }] }),
      mounted({ prefix: '/all', replyToMentionsOnly: false, approvers: ['U2'] }),
      mounted({ prefix: '/many', oauth: { clientId: 'c', clientSecret: 's', encryptionSecret } }),
      mounted({
        prefix: '/chosen',
        oauth: { clientId: 'c', clientSecret: 's', encryptionSecret, teams: ['E1'] },
      }),
      mounted({
        prefix: '/known',
        resolveUserIdentity: true,
        approvers: ({ userId, askerId }) => userId !== askerId,
      }),
      mounted({ prefix: '/socket', appToken: double.appToken }),
    ],
  });
}

beforeAll(async () => {
  double = hasten(await SlackDouble.open());
  writeFileSync(join(dataDir, 'runyard.db'), await preparedSqlite());
  app = openApp();
  ({ url } = await app.listen());
});
afterAll(async () => {
  await app.close({ graceMs: 0 });
  await double.close();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeEach(() => {
  double.clear();
  door = gate();
});
afterEach(() => expect(double.violations).toEqual([]));

let sent = 0;

/** An event as Slack sends it. */
function envelope(event: Body, fields: Body = {}): Body {
  sent += 1;
  const team_id = 'T1';
  return { type: 'event_callback', event_id: `Ev${sent}`, team_id, event, ...fields };
}

function mention(text: string, fields: Body = {}): Body {
  sent += 1;
  const ts = `1700000000.${String(sent).padStart(6, '0')}`;
  return {
    type: 'app_mention',
    user: 'U1',
    text: `<@U0BOT> ${text}`,
    channel: 'C1',
    ts,
    event_ts: ts,
    ...fields,
  };
}

async function deliver(body: Body, prefix = '/slack', headers: Record<string, string> = {}): Promise<void> {
  const request = signedRequest(signingSecret, JSON.stringify(body), { headers });
  const response = await fetch(`${url}${prefix}/events`, request);
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
}

/** Sends a message, and waits for the text of its answer. */
async function answered(event: Body, text: string, prefix?: string): Promise<void> {
  await deliver(envelope(event), prefix);
  await untilText(event, text);
}

const untilText = ({ channel, thread_ts, ts }: Body, text: string) =>
  until(`Slack shows ${text}`, () => double.textOf(channel, thread_ts ?? ts).includes(text));

async function press(event: Body, button: string, user: string, prefix: string, at: string): Promise<void> {
  const message = double
    .thread(event.channel, event.ts)
    .find(({ blocks }) => JSON.stringify(blocks).includes(button));
  const actions: Body[] = JSON.stringify(message?.blocks) ? buttonsIn(message?.blocks) : [];
  const action = actions.find((one) => one.action_id === button);
  const payload = {
    type: 'block_actions',
    user: { id: user },
    team: { id: 'T1' },
    channel: { id: event.channel },
    message: { ts: message?.ts, blocks: message?.blocks },
    actions: [{ ...action, action_ts: at }],
    state: { values: {} },
  };
  const response = await fetch(`${url}${prefix}/interactions`, signedInteraction(signingSecret, payload));
  expect(response.status).toBe(200);
}

function buttonsIn(value: unknown): Body[] {
  if (Array.isArray(value)) return value.flatMap(buttonsIn);
  if (typeof value !== 'object' || value === null) return [];
  return [...('action_id' in value ? [value as Body] : []), ...Object.values(value).flatMap(buttonsIn)];
}

async function runsOf(sessionId: string): Promise<Body[]> {
  const response = await fetch(`${url}/sessions/${encodeURIComponent(sessionId)}/runs?type=agent`);
  return response.status === 200 ? ((await response.json()) as Body[]) : [];
}

test('a mention is answered in its thread, as a run of the person, and where it was written is no part of the text', async () => {
  double.users.set('U3', { id: 'U3', name: 'Ann </slack>' });
  const event = mention('what is &lt;this&gt;?', { user: 'U3' });
  book.write('@Helper what is <this>?', 'It is a test.');
  await answered(event, 'It is a test.');
  const [run] = await runsOf(`clerk:C1:${event.ts}`);
  expect(run).toMatchObject({ user_id: 'U3', status: 'completed', run_input: '@Helper what is <this>?' });
  const read = async (path: string) => (await (await fetch(url + path)).json()) as Body;
  const whole = await read(`/agents/clerk/runs/${run?.run_id}`);
  expect(whole.metadata).toMatchObject({ user_id: 'U3', user_name: 'Ann </slack>' });
  expect(whole.input).toEqual({ input_content: '@Helper what is <this>?' });
  const said = (role: string) => whole.messages.filter((one: Body) => one.role === role);
  expect(said('user').map(({ content }: Body) => content)).toEqual(['@Helper what is <this>?']);
  expect(said('system')[0].content).toContain('You answer in #general.');
  // people choose names: one cannot end the quotation
  expect(said('system')[0].content).toMatch(/#general[\s\S]*Ann \\u003c\/slack>[\s\S]*<\/slack>$/);
  const session = await read(`/sessions/clerk:C1:${event.ts}?type=agent`);
  expect(session.session_name).toBe('@Helper what is <this>?');
});

test('the next person in a thread sees the same session', async () => {
  const event = mention('remember blue');
  book.write('@Helper remember blue', 'I do.');
  await answered(event, 'I do.');
  book.write('@Helper which one?', 'Blue.');
  const next = mention('which one?', { user: 'U2', thread_ts: event.ts });
  await answered(next, 'Blue.');
  const texts = book
    .requests('@Helper which one?')
    .at(-1)
    ?.messages.map(({ content }) => content);
  expect(texts?.join()).toContain('@Helper remember blue');
  expect(await runsOf(`clerk:C1:${event.ts}`)).toHaveLength(2);
});

test('requests without a signature, with a wrong one, and old ones are refused', async () => {
  const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' });
  const asked = async (init: RequestInit, path = 'events') => {
    const response = await fetch(`${url}/slack/${path}`, init);
    return [response.status, await response.json()];
  };
  const old = Math.floor(Date.now() / 1000) - 301;
  expect(await asked({ method: 'POST', body })).toEqual([400, { detail: 'Missing Slack headers' }]);
  const empty = { 'x-slack-request-timestamp': '', 'x-slack-signature': '' };
  expect(await asked({ method: 'POST', body, headers: empty })).toEqual([
    400,
    { detail: 'Missing Slack headers' },
  ]);
  expect(await asked(signedRequest('another secret', body))).toEqual([403, { detail: 'Invalid signature' }]);
  expect(await asked(signedRequest(signingSecret, body, { at: old }))).toEqual([
    403,
    { detail: 'Invalid signature' },
  ]);
  expect(await asked({ ...signedRequest(signingSecret, body), body: `${body} ` })).toEqual([
    403,
    { detail: 'Invalid signature' },
  ]);
  expect(await asked(signedRequest(signingSecret, body))).toEqual([200, { challenge: 'abc' }]);
  const form = 'application/x-www-form-urlencoded';
  const none = signedRequest(signingSecret, 'a=b', { type: form });
  expect(await asked(none, 'interactions')).toEqual([400, { detail: 'Missing payload' }]);
  const broken = signedRequest(signingSecret, 'payload=%7B', { type: form });
  expect(await asked(broken, 'interactions')).toEqual([400, { detail: 'Malformed payload JSON' }]);
});

test('a repeated event is processed once, and one that never arrived before is processed although it is a repetition', async () => {
  const event = mention('again?');
  book.write('@Helper again?', 'Once.');
  const body = envelope(event);
  const headers = { 'x-slack-retry-num': '1', 'x-slack-retry-reason': 'http_timeout' };
  await Promise.all([deliver(body, '/slack', headers), deliver(body), deliver(body)]);
  await untilText(event, 'Once.');
  await deliver(body, '/slack', headers);
  const marker = mention('marker');
  book.write('@Helper marker', 'Seen.');
  await answered(marker, 'Seen.');
  expect(await runsOf(`clerk:C1:${event.ts}`)).toHaveLength(1);
});

test('its own messages, other apps, edits and messages without a mention are not answered', async () => {
  const message = (fields: Body) => ({
    ...mention('no'),
    type: 'message',
    channel_type: 'channel',
    ...fields,
  });
  const own = [
    { bot_id: 'B0BOT', user: undefined },
    { user: 'U0BOT' },
    { bot_id: 'B9', subtype: 'bot_message' },
  ];
  for (const fields of own) await deliver(envelope(message(fields)), '/all');
  for (const subtype of ['message_changed', 'thread_broadcast', 'pinned_item', 'huddle_thread', 'bot_add'])
    await deliver(envelope(message({ subtype })), '/all');
  await deliver(envelope(mention('no', { channel: 'D1' })));
  await deliver(envelope(mention('no')), '/all');
  await deliver(envelope(message({})));
  await deliver(envelope(mention('no', { bot_id: 'B9' })));
  const event = { ...mention('x'), type: 'message', text: 'yes', channel: 'D1', channel_type: 'im' };
  book.write('yes', 'Only this.');
  await answered(event, 'Only this.');
  expect(book.requests('@Helper no')).toEqual([]);
});

test('only the asker may press a button unless the operator says otherwise, and two presses decide once', async () => {
  const event = mention('pay it');
  book.write('@Helper pay it', { toolCalls: [{ name: 'pay', id: 'c1', arguments: {} }] }, 'It is paid.');
  await deliver(envelope(event));
  await until(
    'the card is there',
    () => buttonsIn(double.thread('C1', event.ts).map(({ blocks }) => blocks)).length > 0,
  );
  await press(event, 'row_approve', 'U2', '/slack', '1.1');
  await until('the other person is notified', () => double.ephemeral('U2').length === 1);
  expect(paid).toEqual([]);
  await Promise.all(['1.2', '1.3'].map((at) => press(event, 'row_approve', 'U1', '/slack', at)));
  await untilText(event, 'It is paid.');
  await until('the second press is answered', () => double.ephemeral('U1').length === 1);
  expect(paid).toHaveLength(1);
});

test('approvers that are listed may press what others asked for', async () => {
  const event = { ...mention('x'), type: 'message', text: 'pay more', channel_type: 'channel' };
  book.write('pay more', { toolCalls: [{ name: 'pay', id: 'c2', arguments: {} }] }, 'More is paid.');
  await deliver(envelope(event), '/all');
  await until(
    'the card is there',
    () => buttonsIn(double.thread('C1', event.ts).map(({ blocks }) => blocks)).length > 0,
  );
  await press(event, 'row_approve', 'U1', '/all', '2.1');
  await until('the asker is notified', () => double.ephemeral('U1').length === 1);
  await press(event, 'row_approve', 'U2', '/all', '2.2');
  await untilText(event, 'More is paid.');
});

test('a function decides who may press, and people are known by the address that their own workspace confirms', async () => {
  const user = (id: string, fields: Body = {}) =>
    double.users.set(id, { id, team_id: 'T1', profile: { email: `${id}@example.com` }, ...fields });
  user('U4');
  // of another workspace, and not confirmed
  user('U5', { team_id: 'T9' });
  user('U6', { is_email_confirmed: false });
  const event = mention('pay as dora', { user: 'U4' });
  book.write(
    '@Helper pay as dora',
    { toolCalls: [{ name: 'pay', id: 'c4', arguments: {} }] },
    'Both agreed.',
  );
  await deliver(envelope(event), '/known');
  const others = ['U5', 'U6'].map((id) => mention(`I am ${id}`, { user: id }));
  await Promise.all(others.map((one) => answered(one, `Answer to: @Helper I am ${one.user}`, '/known')));
  await until(
    'the card is there',
    () => buttonsIn(double.thread('C1', event.ts).map(({ blocks }) => blocks)).length > 0,
  );
  await press(event, 'row_approve', 'U4', '/known', '4.1');
  await until('the asker is notified', () => double.ephemeral('U4').length === 1);
  await press(event, 'row_approve', 'U1', '/known', '4.2');
  await untilText(event, 'Both agreed.');
  const owners = [event, ...others].map(async ({ ts }) => (await runsOf(`clerk:C1:${ts}`))[0]?.user_id);
  expect(await Promise.all(owners)).toEqual(['U4@example.com', 'U5', 'U6']);
});

test('an organisation that may installs the app for all of its workspaces, and another workspace may not', async () => {
  const begun = await fetch(`${url}/chosen/install`, { redirect: 'manual' });
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const cookie = (begun.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const bot = { botUserId: 'U0BOT', botId: 'B0BOT' };
  const granted = async (token: string, fields: Body) => {
    double.grants.set(token, { access_token: token, token_type: 'bot', bot_user_id: 'U0BOT', ...fields });
    const query = new URLSearchParams({ code: token, state });
    return (await fetch(`${url}/chosen/oauth/callback?${query}`, { headers: { cookie } })).status;
  };
  double.installed.set('xoxb-t9', { teamId: 'T9', ...bot });
  expect(await granted('xoxb-t9', { team: { id: 'T9', name: 'Nine' } })).toBe(403);
  // its token is given back
  expect(double.installed.has('xoxb-t9')).toBe(false);
  double.installed.set('xoxb-e1', { teamId: 'T5', enterpriseId: 'E1', ...bot });
  const enterprise = { is_enterprise_install: true, enterprise: { id: 'E1', name: 'One' }, team: null };
  expect(await granted('xoxb-e1', enterprise)).toBe(200);
  const event = mention('from five');
  await deliver(envelope(event, { team_id: 'T5', enterprise_id: 'E1' }), '/chosen');
  await untilText(event, 'Answer to: @Helper from five');
  expect((await runsOf(`clerk:E1:C1:${event.ts}`))[0]).toMatchObject({ user_id: 'E1:U1' });
});

test('a word cancels the run in progress of its thread', async () => {
  const event = mention('take long');
  book.write('@Helper take long', { toolCalls: [{ name: 'linger', id: 'c3', arguments: {} }] }, 'Too late.');
  await deliver(envelope(event));
  await until('the run is there', async () => (await runsOf(`clerk:C1:${event.ts}`)).length === 1);
  await deliver(envelope(mention('Stop!', { thread_ts: event.ts })));
  await until(
    'the run is cancelled',
    async () => (await runsOf(`clerk:C1:${event.ts}`))[0]?.status === 'cancelled',
  );
  door.open();
  await until('the thread says so', () => /cancel/i.test(double.textOf('C1', event.ts)));
});

test('a word cancels what has no run yet, and is no message itself', async () => {
  // the first message has a run, the second one waits for it, and the third has a run that is about to begin
  const event = mention('take longer');
  const call = { toolCalls: [{ name: 'linger', id: 'c5', arguments: {} }] };
  book.write('@Helper take longer', call, 'Too late.');
  await deliver(envelope(event));
  await until('the run is there', async () => (await runsOf(`clerk:C1:${event.ts}`)).length === 1);
  await deliver(envelope(mention('and then this', { thread_ts: event.ts })));
  await deliver(envelope(mention('cancel', { thread_ts: event.ts })));
  await until('the thread says so', () => double.textOf('C1', event.ts).split('_Cancelled._').length === 3);
  door.open();

  const release = double.hold('users.info');
  const other = mention('begin', { user: 'U8' });
  await deliver(envelope(other));
  await until('it is read', () => double.called('users.info').some(({ user }) => user === 'U8'));
  await deliver(envelope(mention('stop', { user: 'U8', thread_ts: other.ts })));
  const database = new (loadSqliteLibrary().DatabaseSync)(join(dataDir, 'runyard.db'));
  const asked = database.prepare('SELECT 1 FROM run_cancellations');
  await until('the word is processed', () => asked.all().length > 0);
  database.close();
  release();
  await untilText(other, '_Cancelled._');
  const statuses = async ({ ts }: Body) => (await runsOf(`clerk:C1:${ts}`)).map(({ status }) => status);
  expect([await statuses(event), await statuses(other)]).toEqual([['cancelled'], ['cancelled']]);
  for (const text of ['and then this', 'begin', 'cancel', 'stop'])
    expect(book.requests(`@Helper ${text}`)).toEqual([]);
});

test('a person whose answer Slack does not take is notified', async () => {
  const event = mention('unheard');
  book.write('@Helper unheard', 'Nobody reads this.');
  double.fail('chat.startStream', { error: 'msg_too_long' });
  double.fail('chat.postMessage', { error: 'msg_too_long' });
  await answered(event, 'Sorry, there was an error processing your message.', '/socket');
  await until('the log says so', () => notes.includes('Slack refused chat.postMessage: msg_too_long'));
});

test('the assistant pane gets its prompts', async () => {
  const assistant_thread = { user_id: 'U1', channel_id: 'D2', thread_ts: '1700000001.000001' };
  await deliver(envelope({ type: 'assistant_thread_started', assistant_thread, event_ts: '1' }));
  await double.untilCalled('assistant.threads.setSuggestedPrompts');
  double.fail('assistant.threads.setSuggestedPrompts', { error: 'is_archived' });
  await deliver(envelope({ type: 'assistant_thread_started', assistant_thread, event_ts: '2' }));
  const refusal = 'Slack refused assistant.threads.setSuggestedPrompts: is_archived';
  await until('what Slack refuses for good is in the log', () => notes.includes(refusal));
  expect(double.called('assistant.threads.setSuggestedPrompts')[0]).toMatchObject({
    channel_id: 'D2',
    prompts: [{ title: 'Hello', message: 'Say hello' }],
  });
});

test('workspaces install the app, and their tokens are encrypted, used and removed', async () => {
  const begun = await fetch(`${url}/many/install`, { redirect: 'manual' });
  const target = new URL(begun.headers.get('location') ?? '');
  expect([begun.status, target.origin]).toEqual([302, 'https://slack.com']);
  const cookie = (begun.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const state = target.searchParams.get('state') ?? '';
  const token = 'xoxb-of-the-second-workspace';
  double.installed.set(token, { teamId: 'T2', botUserId: 'U0BOT', botId: 'B0BOT' });
  double.grants.set('code', {
    access_token: token,
    token_type: 'bot',
    bot_user_id: 'U0BOT',
    team: { id: 'T2', name: 'Two' },
  });
  const back = (query: object, headers: Record<string, string>) =>
    fetch(`${url}/many/oauth/callback?${new URLSearchParams({ ...query })}`, { headers });
  // what arrives before is not answered, and is not remembered against the workspace
  const early = envelope(mention('too early'), { team_id: 'T2' });
  await deliver(early, '/many');
  await until('it is known that there is no app', () => notes.includes('The workspace has no app.'));
  const twice = await fetch(`${url}/many/oauth/callback?code=code&state=a&state=b`, { headers: { cookie } });
  expect(twice.status).toBe(400);
  expect((await back({ code: 'code', state }, {})).status).toBe(400);
  expect((await back({ code: 'code', state: `9${state}` }, { cookie })).status).toBe(400);
  expect((await back({ code: 'code', state }, { cookie })).status).toBe(200);
  expect(readFileSync(join(dataDir, 'runyard.db')).includes(token)).toBe(false);

  const event = mention('from two');
  book.write('@Helper from two', 'Hello, two.');
  await deliver(envelope(event, { team_id: 'T2' }), '/many');
  await untilText(event, 'Hello, two.');
  expect((await runsOf(`clerk:T2:C1:${event.ts}`))[0]).toMatchObject({ user_id: 'T2:U1' });
  expect(double.calls.some((one) => one.token === token)).toBe(true);

  // another workspace of the organisation
  await deliver(envelope({ type: 'app_uninstalled' }, { team_id: 'T3', enterprise_id: 'T2' }), '/many');
  const still = mention('still two');
  book.write('@Helper still two', 'Still here.');
  await deliver(envelope(still, { team_id: 'T2' }), '/many');
  await untilText(still, 'Still here.');

  // an event that comes late, when the app is installed again
  const asked = double.called('auth.test').length;
  await deliver(envelope({ type: 'app_uninstalled' }, { team_id: 'T2' }), '/many');
  await double.untilCalled('auth.test', asked + 1);
  const again = mention('two again');
  book.write('@Helper two again', 'Here again.');
  await deliver(envelope(again, { team_id: 'T2' }), '/many');
  await untilText(again, 'Here again.');
  await until('it is written', () => double.thread('C1', again.ts).every(({ streaming }) => !streaming));

  double.installed.delete(token);
  await deliver(envelope({ type: 'app_uninstalled' }, { team_id: 'T2' }), '/many');
  const late = mention('gone');
  await until('the installation is removed', async () => {
    double.calls.length = 0;
    await deliver(envelope(late, { team_id: 'T2' }), '/many');
    const marker = mention(`marker ${sent}`);
    book.write(`@Helper ${marker.text.slice(9)}`, 'Marked.');
    await answered(marker, 'Marked.');
    return !double.calls.some((one) => one.token === token);
  });
  // Slack said that the token is no longer valid
  double.clear();
});

test('over socket mode a delivery is acknowledged when it is stored, and a new connection replaces the old one', async () => {
  await until('the socket is open', () => double.sockets.size > 0);
  const event = mention('over the socket');
  book.write('@Helper over the socket', 'Received.');
  const id = double.push('events_api', envelope(event));
  await untilText(event, 'Received.');
  expect(double.acknowledged).toContain(id);
  const before = double.called('apps.connections.open').length;
  double.refreshSockets();
  await double.untilCalled('apps.connections.open', before + 1);
});

test('what a process leaves behind is done by the next one, once', async () => {
  const event = mention('survive');
  book.write('@Helper survive', { chunks: ['Half and ', door.opened, 'half.'] });
  await deliver(envelope(event));
  await untilText(event, 'Half and ');
  await app.close({ graceMs: 0 });
  door.open();
  book.write('@Helper survive', 'Half and half.');
  app = openApp();
  ({ url } = await app.listen());
  await untilText(event, 'half.');
  expect(await runsOf(`clerk:C1:${event.ts}`)).toHaveLength(1);
  expect(double.textOf('C1', event.ts).match(/half\./g)).toHaveLength(1);
});

test('a start says when Slack refuses the token, and when nothing can be received', async () => {
  const logged: string[] = [];
  const keep = (_fields: object, text: string) => void logged.push(text);
  const opened = (options: Partial<SlackOptions>) =>
    new Runyard({
      port: 0,
      dataDir: join(dataDir, 'other'),
      log: { ...silentLog, warn: keep, error: keep },
      agents: [clerk],
      interfaces: [mounted(options)],
    });
  const open = (options: Partial<SlackOptions>) => opened(options).listen();
  await expect(open({ token: 'xoxb-wrong' })).rejects.toThrow(/invalid_auth.*Set SLACK_BOT_TOKEN/);
  double.clear();
  await expect(open({ signingSecret: '' })).rejects.toThrow('SLACK_SIGNING_SECRET');
  await expect(open({ token: double.appToken })).rejects.toThrow('the bot token is an app token');
  await expect(open({ appToken: 'xapp-wrong' })).rejects.toThrow(/Turn on Socket Mode.*connections:write/);
  double.clear();
  // what had started is stopped before its database is closed
  expect(logged).toEqual([]);

  const other = opened({});
  const { url: at } = await other.listen();
  for (const path of ['events', 'interactions'])
    expect((await fetch(`${at}/slack/${path}`, signedRequest('another secret', '{}'))).status).toBe(403);
  expect(logged).toEqual([expect.stringContaining('SLACK_SIGNING_SECRET is not its Signing Secret')]);
  await other.close({ graceMs: 0 });
});

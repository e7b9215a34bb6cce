import type { Body } from '../../support/service.js';
import { fastSlack, hasten } from '../../support/slack/fast-slack.js';
import { signedInteraction, signedRequest } from '../../support/slack/signed-request.js';
import { SlackDouble } from '../../support/slack/slack-double.js';
import type { Message } from '../../support/slack/workspace.js';
import { until } from '../../support/until.js';
import {
  type Asked,
  type Client,
  type Following,
  type Person,
  Refused,
  type Seen,
  seenIn,
  type Way,
} from '../way.js';
import { get, pathOf } from './rest.js';

const signingSecret = 'the signing secret of the scenarios';

/** Slack, as far as the scenarios need it. The test that plays them closes it. */
export const slackDouble = hasten(await SlackDouble.open());

/** Each component has an interface of its own. */
export const slackInterfaces = [
  { agent: 'clerk' },
  { team: 'desk' },
  { workflow: 'letters' },
  { workflow: 'reviewed' },
  { team: 'desks' },
].map((component) =>
  fastSlack({
    ...component,
    prefix: `/slack/${Object.values(component)[0]}`,
    token: slackDouble.token,
    apiUrl: slackDouble.url,
    signingSecret,
    bufferSize: 1,
  }),
);

const noInput = 'a message in a thread has no input for a factory: it gets an empty one, and who wrote';
const threadIsShared =
  'everyone in a channel sees its threads and may write there; who may press a button is tested in test/slack';

/** A person who reads and writes in a thread. The id of a session names the thread. */
export const slackWay: Way = {
  name: 'Slack',
  news: ['text', 'tool'],
  leavesOut: {
    'a run that paused elsewhere is found and answered': 'a thread shows the runs that began in it',
    'a factory builds a team from the input of the run': noInput,
    'a factory builds the workflow of a paused run again': noInput,
    'what a factory refuses does not run': noInput,
    'another user finds nothing': threadIsShared,
    'a session of another user is refused': threadIsShared,
  },
  common,
  open: (person) => new SlackClient(person),
};

/** Without who wrote, in the metadata, and where, in the system message. */
function common(left: Body): Body {
  if (Array.isArray(left))
    return left.map(common).filter((one) => one.role !== 'system' || one.content !== '');
  if (typeof left === 'string') return left.replace(/(\n\n)?Where the user's message[\s\S]*<\/slack>$/, '');
  if (typeof left !== 'object' || left === null) return left;
  const kept = Object.entries(left).filter(([name]) => name !== 'metadata');
  return Object.fromEntries(kept.map(([name, inner]) => [name, common(inner)]));
}

const cancelled = '_Cancelled._';
/** Sessions whose thread has its first message. */
const begun = new Set<string>();
let sent = 0;

class SlackClient implements Client {
  constructor(private readonly person: Person) {}

  start(asked: Asked): Following {
    const before = lastOf(asked);
    const rested = this.write(asked, asked.message).then(() => this.rest(asked, before));
    rested.catch(() => {});
    const some = (is: (message: Message) => boolean) => since(asked, before).some(is);
    const isNews = {
      text: ({ text }: Message) => text !== '',
      tool: ({ tasks }: Message) => tasks.size > 0,
    };
    return {
      rested,
      receives: (news) => until(`the thread shows ${news}`, () => some(isNews[news])),
      // a person has no connection that could be cut; the answer has one, which Slack ends when it likes
      drop: () => slackDouble.expireStreams(),
    };
  }

  /** Presses the buttons of the message that asks, once its fields are filled in. */
  async answer(asked: Asked, _runId: string, [requirement]: readonly Body[]): Promise<Seen> {
    const before = lastOf(asked);
    const message = messagesOf(asked).findLast(({ blocks }) => buttonsOf(blocks).length > 0);
    if (message === undefined) throw new Refused('There is no button.');
    const names = () => buttonsOf(message.blocks).map(({ action_id }) => action_id);
    if (names().includes('row_approve')) {
      const isRejected = requirement?.confirmation === false;
      await this.press(asked, message, isRejected ? 'row_reject' : 'row_approve');
      if (!isRejected) return this.restOrRefusal(asked, before, message);
      await until('the reason may be given', () => names().includes('submit_pause'));
    }
    const [button] = names();
    await this.press(asked, message, button, valuesFor(message.blocks, requirement));
    return this.restOrRefusal(asked, before, message);
  }

  async cancel(asked: Asked): Promise<void> {
    await this.write(asked, 'stop');
    await until('the thread says so', () => messagesOf(asked).some(({ text }) => text === cancelled));
  }

  comeBack(asked: Asked): Promise<Seen> {
    return this.rest(asked, '');
  }

  private async write({ id, sessionId }: Asked, text: string): Promise<void> {
    const { channel, threadTs } = threadIn(sessionId);
    const isFirst = !begun.has(sessionId);
    begun.add(sessionId);
    sent += 1;
    const ts = isFirst ? threadTs : `1800000000.${String(sent).padStart(6, '0')}`;
    const event = {
      ...{ type: 'message', channel_type: 'im', user: this.person.id, text, channel, ts, event_ts: ts },
      ...(!isFirst && { thread_ts: threadTs }),
    };
    const body = { type: 'event_callback', event_id: `Ev${sent}`, team_id: 'T1', event };
    await this.post(`/slack/${id}/events`, signedRequest(signingSecret, JSON.stringify(body)));
  }

  private async press({ id }: Asked, message: Message, button: string, values: Body = {}): Promise<void> {
    sent += 1;
    const action = buttonsOf(message.blocks).find(({ action_id }) => action_id === button);
    const { channel, ts } = message;
    const payload = {
      type: 'block_actions',
      user: { id: this.person.id },
      team: { id: 'T1' },
      channel: { id: channel },
      message: { ts },
      actions: [{ ...action, action_ts: `1.${sent}` }],
      state: { values },
    };
    await this.post(`/slack/${id}/interactions`, signedInteraction(signingSecret, payload));
  }

  private async post(path: string, request: RequestInit): Promise<void> {
    const response = await fetch(this.person.url + path, request);
    if (response.status !== 200) throw new Error(`Slack was answered with ${response.status}.`);
    await response.body?.cancel();
  }

  /** What the thread shows at the end. What a run waits for is there in words: the scenario answers its body. */
  private async rest(asked: Asked, before: string): Promise<Seen> {
    const last = await until('the thread shows the end', () => since(asked, before).find(isEnd));
    return this.seen(asked, last);
  }

  private async restOrRefusal(asked: Asked, before: string, message: Message): Promise<Seen> {
    const said = slackDouble.ephemeral(this.person.id).length;
    const { blocks } = message;
    const refusal = () => {
      const [words] = slackDouble.ephemeral(this.person.id).slice(said);
      const isPending = message.blocks !== blocks && JSON.stringify(message.blocks).includes('Still pending');
      return words ?? (isPending ? 'Still pending approval' : undefined);
    };
    const end = await until('the press is answered', () => since(asked, before).find(isEnd) ?? refusal());
    if (typeof end === 'string') throw new Refused(end);
    return this.seen(asked, end);
  }

  private async seen(asked: Asked, { text, blocks, metadata }: Message): Promise<Seen> {
    const runId: string = metadata?.event_payload.run_id;
    if (buttonsOf(blocks).length > 0) return seenIn(await get(this.person, pathOf(asked, runId)));
    const status = text.startsWith('_Error: ') ? 'error' : text === cancelled ? 'cancelled' : 'completed';
    return { runId, status, content: text, requirements: [] };
  }
}

function threadIn(sessionId: string): { channel: string; threadTs: string } {
  const [, channel = '', threadTs = ''] = sessionId.split(':');
  return { channel, threadTs };
}

function messagesOf({ sessionId }: Asked): Message[] {
  const { channel, threadTs } = threadIn(sessionId);
  return slackDouble.thread(channel, threadTs);
}

/** The time of the last message. Messages are deleted: their number says nothing. */
function lastOf(asked: Asked): string {
  return messagesOf(asked).at(-1)?.ts ?? '';
}

function since(asked: Asked, before: string): Message[] {
  return messagesOf(asked).filter(({ ts }) => ts > before);
}

/** Whether a message asks for something, or is an answer to which nothing is added. */
function isEnd({ text, blocks, streaming, metadata }: Message): boolean {
  if (buttonsOf(blocks).length > 0 || text === cancelled) return true;
  // a line says what is awaited before the message that asks
  const isLine = metadata?.event_type === 'runyard_pause';
  return text !== '' && streaming === undefined && metadata !== undefined && !isLine;
}

function buttonsOf(blocks: readonly Body[]): Body[] {
  return blocks.flatMap(({ actions, elements }) => actions ?? elements ?? []);
}

/** What a person types into the fields of a message, as Slack sends it. */
function valuesFor(blocks: readonly Body[], requirement: Body): Body {
  const typed = (label: string) =>
    requirement.external_execution_result ??
    requirement.user_input_schema?.find(({ name }: Body) => name === label)?.value;
  const fields = blocks.filter(({ type, label }) => type === 'input' && typed(label.text) !== undefined);
  return Object.fromEntries(
    fields.map(({ block_id, element, label }) => [
      block_id,
      { [element.action_id]: { type: element.type, value: String(typed(label.text)) } },
    ]),
  );
}

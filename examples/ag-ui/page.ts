import {
  type AgentSubscriber,
  HttpAgent,
  type Interrupt,
  type Message,
  type ResumeEntry,
  type RunAgentInput,
} from '@ag-ui/client';

// The thread has an id in the address, so a page that is loaded again shows the same conversation.
if (location.hash === '') history.replaceState(null, '', `#${crypto.randomUUID()}`);

/** The client of AG-UI leaves it to the application how it comes back to a thread. */
class ReturningAgent extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    return new HttpAgent({ url: `${this.url}/connect` }).run(input);
  }
}

const agent = new ReturningAgent({ url: '/agui', threadId: location.hash.slice(1) });

/** A tool of the page: the agent may call it, and the page executes it. */
const paintPage = {
  name: 'paint_page',
  description: 'Paints the page in a colour.',
  parameters: {
    type: 'object',
    properties: { colour: { type: 'string', enum: ['white', 'green', 'yellow', 'pink'] } },
    required: ['colour'],
  },
};

/** Runs the agent, executes what it calls on this page, and runs it again with the results. */
async function run(resume?: ResumeEntry[]): Promise<void> {
  await follow((subscriber) => agent.runAgent({ tools: [paintPage], resume }, subscriber));
}

async function follow(start: (subscriber: AgentSubscriber) => Promise<unknown>): Promise<void> {
  let calls: string[] = [];
  try {
    const running = start({
      onMessagesChanged: show,
      onStateChanged: show,
      onRunErrorEvent: ({ event }) => fail(event.message),
      onRunFinishedEvent: (end) => {
        calls = end.outcome === 'success' ? end.pendingToolCallIds : [];
      },
    });
    show();
    await running;
  } catch (error) {
    fail(error);
  }
  show();
  if (calls.length === 0) return;
  for (const id of calls)
    agent.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId: id, content: paint(id) });
  await run();
}

function paint(callId: string): string {
  const call = agent.messages
    .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    .find(({ id }) => id === callId);
  const { colour } = JSON.parse(call?.function.arguments ?? '{}');
  document.body.style.background = colour;
  return `It is ${colour} now.`;
}

function show(): void {
  element('messages').replaceChildren(...agent.messages.flatMap(articles));
  element('questions').replaceChildren(...(agent.isRunning ? [] : agent.pendingInterrupts.map(question)));
  const { list } = agent.state as { list?: string[] };
  element('list').textContent = list?.join(', ') || 'empty';
  element<HTMLButtonElement>('send').disabled = agent.isRunning || agent.pendingInterrupts.length > 0;
}

function articles(message: Message): HTMLElement[] {
  const text = typeof message.content === 'string' && message.content !== '' ? [message.content] : [];
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return [
    ...text.map((content) => article(message.role, content)),
    ...calls.map(({ function: { name, arguments: given } }) => article('call', `${name} ${given}`)),
  ];
}

function article(kind: string, text: string): HTMLElement {
  const made = document.createElement('article');
  made.className = kind;
  made.textContent = text;
  return made;
}

function question({ id, message }: Interrupt): HTMLElement {
  const made = document.createElement('p');
  made.append(message ?? 'The agent asks for your approval.');
  for (const [label, confirmed] of [
    ['Approve', true],
    ['Deny', false],
  ] as const) {
    const button = document.createElement('button');
    button.textContent = label;
    button.onclick = () => run([{ interruptId: id, status: 'resolved', payload: { confirmed } }]);
    made.append(button);
  }
  return made;
}

function fail(error: unknown): void {
  element('error').textContent = error instanceof Error ? error.message : String(error);
}

function element<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

element('form').onsubmit = (event) => {
  event.preventDefault();
  const input = element<HTMLInputElement>('message');
  if (input.value.trim() === '') return;
  element('error').textContent = '';
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: input.value });
  input.value = '';
  void run();
};

// What the service has of the thread: its messages, its state, the run in progress, and what a paused run asks.
await follow((subscriber) => agent.connectAgent({}, subscriber));

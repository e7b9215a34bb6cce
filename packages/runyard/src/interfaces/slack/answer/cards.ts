import type { WorkflowEvent } from '../../../core/events/run-event.js';
import type { JsonObject } from '../../../core/json.js';
import { fieldsOf } from '../../../core/objects.js';

export type CardStatus = 'pending' | 'in_progress' | 'complete' | 'error';

interface Card {
  readonly id: string;
  readonly title: string;
  readonly status: CardStatus;
}

/** Slack makes blocks of cards, and has 50 blocks in a message. */
const mostCards = 45;
const longestTitle = 150;

/** What is under way in a run, as task cards. They are sent when they change. */
export class Cards {
  private readonly cards = new Map<string, Card>();
  private readonly changed = new Set<string>();
  private others = 0;

  constructor(
    private readonly runId: string,
    private readonly isWorkflow: boolean,
  ) {}

  /** Whether a card has changed. */
  take(event: WorkflowEvent): boolean {
    const isOwn = event.run_id === this.runId;
    // a workflow shows its steps, not what happens in them
    if (this.isWorkflow && !isOwn) return false;
    const card = cardOf(event, isOwn ? undefined : nameOf(event));
    if (card === undefined) return false;
    this.put(card);
    return true;
  }

  put(card: Card): void {
    // Slack refuses a card without a title, and all that is sent with it
    const title = card.title.slice(0, longestTitle) || '?';
    if (this.cards.has(card.id) || this.cards.size < mostCards) {
      this.cards.set(card.id, { ...card, title });
      this.changed.add(card.id);
    } else if (card.status === 'in_progress') {
      const more = { id: 'more', title: `${++this.others} more`, status: card.status };
      this.cards.set(more.id, more);
      this.changed.add(more.id);
    }
  }

  /** The run rests: nothing is under way. */
  settle(status: CardStatus): void {
    for (const card of this.cards.values()) if (card.status === 'in_progress') this.put({ ...card, status });
  }

  /** The chunks of the cards that have changed since the last time. */
  news(): JsonObject[] {
    const chunks = [...this.changed].flatMap((id) => {
      const card = this.cards.get(id);
      return card === undefined ? [] : [{ type: 'task_update', ...card }];
    });
    this.changed.clear();
    return chunks;
  }
}

const statuses: readonly (readonly [string, CardStatus])[] = [
  ['Started', 'in_progress'],
  ['Completed', 'complete'],
  ['Error', 'error'],
];

/** What begins and ends with events of these names, and how a card calls it. */
const parts: Readonly<Record<string, string>> = {
  Reasoning: 'Reasoning',
  MemoryUpdate: 'Updating memory',
  Workflow: 'Workflow',
  Step: 'Step',
  StepsExecution: 'Steps',
  LoopExecution: 'Loop',
  ParallelExecution: 'Parallel',
  ConditionExecution: 'Condition',
  RouterExecution: 'Router',
};

function cardOf(event: WorkflowEvent, member: string | undefined): Card | undefined {
  const name = event.event.replace(/^Team/, '');
  const ending = statuses.find(([word]) => name.endsWith(word));
  if (ending === undefined) return undefined;
  const [word, status] = ending;
  const begun = name.slice(0, -word.length);
  const titled = (title: string) => (member === undefined ? title : `${member}: ${title}`);
  if ('tool' in event) {
    const { tool_call_id: id, tool_name: tool, tool_args: args, confirmed } = fieldsOf(event.tool);
    const denied = `Denied: ${String(tool)}(${shortly(args)})`;
    return { id: String(id), title: titled(confirmed === false ? denied : String(tool)), status };
  }
  const title = parts[begun];
  if (title === undefined) return undefined;
  if (begun === 'Workflow') return { id: `wf_run_${event.run_id}`, title, status };
  const { step_id: step, step_name: stepName } = fieldsOf(event);
  if (begun === 'Step') return { id: `wf_step_${String(step)}`, title: String(stepName ?? title), status };
  if (step !== undefined) {
    const called = stepName === undefined ? title : `${title}: ${String(stepName)}`;
    return { id: `${begun}_${String(step)}`, title: called, status };
  }
  return { id: `${begun}_${event.run_id}`, title: titled(title), status };
}

function shortly(args: unknown): string {
  return Object.keys(fieldsOf(args)).length === 0 ? '' : JSON.stringify(args);
}

function nameOf(event: WorkflowEvent): string {
  const { agent_name: agent, team_name: team, agent_id: agentId, team_id: teamId } = fieldsOf(event);
  return String(agent ?? team ?? agentId ?? teamId ?? 'Member');
}

import type { Kind, SessionRun, ToolCallBody } from '@runyard/client';
import {
  citationsIn,
  endingIn,
  mediaIn,
  metricsIn,
  objectIn,
  objectsIn,
  referencesIn,
  statusIn,
  textIn,
  textsIn,
} from './read-fields.js';
import { noPause, workflowPause } from './run-fold.js';
import type { Fields, MediaLists, Part, Pause, RunView } from './run-view.js';
import { storedSteps } from './step-fold.js';

/** A run of a session, as the list of the service has it. */
export interface StoredRun {
  readonly view: RunView;
  readonly input: string;
  readonly inputMedia: MediaLists | undefined;
  readonly createdAt: string;
  /** The run that it answers again. */
  readonly regeneratedFrom: string | undefined;
}

/** The runs of a session in the order of the list, members within their teams. */
export function storedRuns(listed: readonly SessionRun[], names: Names): StoredRun[] {
  const members = new Map<string, Fields[]>();
  const tops: Fields[] = [];
  for (const run of listed) {
    const fields: Fields = { ...run };
    const parent = textIn(fields.parent_run_id);
    if (parent === undefined) tops.push(fields);
    else members.set(parent, [...(members.get(parent) ?? []), fields]);
  }
  return tops.map((run) => ({
    view: storedView(run, members, names),
    input: textIn(run.run_input) ?? '',
    inputMedia: mediaIn(run.input_media),
    createdAt: textIn(run.created_at) ?? '',
    regeneratedFrom: textIn(run.regenerated_from),
  }));
}

type Members = ReadonlyMap<string, readonly Fields[]>;
/** The name of a component by its id. */
type Names = (id: string) => string;

function storedView(run: Fields, members: Members, names: Names): RunView {
  const kind = kindOf(run);
  const id = String(run[`${kind}_id`]);
  const runId = String(run.run_id);
  const status = statusIn(run.status);
  const inner = (members.get(runId) ?? objectsIn(run.member_responses)).map((member) =>
    storedView(member, members, names),
  );
  const common = {
    runId,
    kind,
    name: textIn(run[`${kind}_name`]) ?? names(id),
    status,
    model: textIn(run.model),
    metrics: metricsIn(run.metrics),
    references: referencesIn(run.references),
    citations: citationsIn(run.citations),
    followups: textsIn(run.followups),
    media: mediaIn(run),
    ending: endingIn(run.finish_reason, run.finish_message),
    pause: status === 'paused' ? pauseOf(kind, run) : undefined,
    error:
      status === 'error'
        ? { text: textIn(run.content) ?? 'The run failed.', type: textIn(run.error_type) }
        : undefined,
  };
  return { ...common, parts: kind === 'workflow' ? workflowParts(run, names) : parts(run, inner, status) };
}

function kindOf(run: Fields): Kind {
  if (run.workflow_id !== undefined && run.agent_id === undefined && run.team_id === undefined)
    return 'workflow';
  return run.team_id !== undefined ? 'team' : 'agent';
}

function pauseOf(kind: Kind, run: Fields): Pause {
  if (kind === 'workflow') return workflowPause(run);
  // the list has them in the words of the client's types
  const requirements = objectsIn(run.requirements) as unknown as Pause['requirements'];
  return { ...noPause, requirements };
}

function workflowParts(run: Fields, names: Names): Part[] {
  const runs = objectsIn(run.step_executor_runs);
  const none: Members = new Map();
  const runsOf = (stepId: string) =>
    runs.filter((one) => one.workflow_step_id === stepId).map((one) => storedView(one, none, names));
  const steps = storedSteps(run.step_results, runsOf).map(
    (step): Part => ({ type: 'step', id: step.id, step }),
  );
  return [...steps, ...answer(run)];
}

/** What the messages of the run say, in their order, with the calls of tools where the model made them. */
function parts(run: Fields, members: readonly RunView[], status: string): Part[] {
  const calls = new Map(objectsIn(run.tools).map((tool) => [String(tool.tool_call_id), tool]));
  const left = new Set(members);
  const made: Part[] = [];
  const addCall = (tool: Fields) => {
    calls.delete(String(tool.tool_call_id));
    // the list has tool calls in the words of the client's types
    const call = tool as ToolCallBody;
    const error = call.tool_call_error ? (call.result ?? 'The tool failed.') : undefined;
    made.push({ type: 'tool', id: call.tool_call_id, call, error, media: undefined, isLive: false });
    const member = members.find(({ runId }) => runId === call.child_run_id);
    if (member && left.delete(member)) made.push({ type: 'member', id: member.runId, run: member });
  };
  const said = objectsIn(run.messages).filter(
    ({ role, from_history }) => role === 'assistant' && from_history !== true,
  );
  said.forEach((message, at) => {
    const thought = textIn(message.reasoning_content);
    if (thought)
      made.push({
        type: 'reasoning',
        id: `reasoning ${at}`,
        title: 'Reasoning',
        text: thought,
        steps: [],
        isLive: false,
      });
    const text = textIn(message.content);
    const wanted = objectsIn(message.tool_calls);
    // the last message is the answer, which a parser, an output model or a hook may have changed
    if (text && (at < said.length - 1 || wanted.length > 0))
      made.push({ type: 'text', id: `text ${at}`, text });
    for (const { id } of wanted) {
      const tool = calls.get(String(id));
      if (tool) addCall(tool);
    }
  });
  const steps = objectsIn(run.reasoning_steps);
  const isThought = made.some(({ type }) => type === 'reasoning');
  // the text of the run repeats the steps, and what the messages say
  const text = steps.length > 0 || isThought ? '' : (textIn(run.reasoning_content) ?? '');
  if (steps.length > 0 || text)
    made.unshift({ type: 'reasoning', id: 'reasoning', title: 'Reasoning', text, steps, isLive: false });
  for (const tool of calls.values()) addCall(tool);
  for (const member of left) made.push({ type: 'member', id: member.runId, run: member });
  return status === 'error' || status === 'paused' ? made : [...made, ...answer(run)];
}

function answer({ content }: Fields): Part[] {
  if (typeof content === 'string')
    return content === '' ? [] : [{ type: 'text', id: 'answer', text: content }];
  return content === null || content === undefined ? [] : [{ type: 'data', id: 'answer', value: content }];
}

/** The media of a whole run: of the input, and of what it made. */
export function mediaOfBody(body: object): {
  readonly input: MediaLists | undefined;
  readonly output: MediaLists | undefined;
} {
  const fields: Fields = { ...body };
  return { input: mediaIn(fields.input_media) ?? mediaIn(objectIn(fields.input)), output: mediaIn(fields) };
}

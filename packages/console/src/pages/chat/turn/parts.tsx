import { memo, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { Markdown } from '../../../ui/content/markdown.js';
import type { Part, RunView } from '../run/run-view.js';
import { Disclosure } from './disclosure.js';
import { Members } from './members.js';
import { Reasoning } from './reasoning.js';
import { Steps } from './steps.js';
import { ToolCall } from './tool-call.js';

/** How many parts of a run are drawn, until a person wants those before them. */
const shownAtFirst = 100;

/** What happened in a run, in its order. */
export function Parts({ run }: { readonly run: RunView }) {
  const [shown, setShown] = useState(shownAtFirst);
  const hidden = Math.max(0, run.parts.length - shown);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {hidden > 0 && (
        <Button size="small" className="self-start" onClick={() => setShown(shown + 5 * shownAtFirst)}>
          Show {hidden} earlier parts
        </Button>
      )}
      {grouped(run.parts.slice(hidden)).map((group) => (
        <Group key={group.id} group={group} runId={run.runId} />
      ))}
    </div>
  );
}

function drawRun(run: RunView) {
  return <Parts key={run.runId} run={run} />;
}

/** Members and steps that follow each other are shown together. */
type Grouped =
  | { readonly id: string; readonly type: 'one'; readonly part: Part }
  | { readonly id: string; readonly type: 'members'; readonly parts: readonly MemberPart[] }
  | { readonly id: string; readonly type: 'steps'; readonly parts: readonly StepPart[] };

type MemberPart = Extract<Part, { type: 'member' }>;
type StepPart = Extract<Part, { type: 'step' }>;

function grouped(parts: readonly Part[]): readonly Grouped[] {
  const groups: Grouped[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    const id = `${part.type} ${part.id}`;
    if (part.type === 'member') {
      if (last?.type === 'members') groups[groups.length - 1] = { ...last, parts: [...last.parts, part] };
      else groups.push({ id, type: 'members', parts: [part] });
    } else if (part.type === 'step') {
      if (last?.type === 'steps') groups[groups.length - 1] = { ...last, parts: [...last.parts, part] };
      else groups.push({ id, type: 'steps', parts: [part] });
    } else groups.push({ id, type: 'one', part });
  }
  return groups;
}

function Group({ group, runId }: { readonly group: Grouped; readonly runId: string }) {
  if (group.type === 'members') return <Members runs={group.parts.map(({ run }) => run)} draw={drawRun} />;
  if (group.type === 'steps') return <Steps steps={group.parts.map(({ step }) => step)} draw={drawRun} />;
  return <OnePart part={group.part} runId={runId} />;
}

/** Drawn again only when it has changed. */
const OnePart = memo(({ part, runId }: { readonly part: Part; readonly runId: string }) => {
  switch (part.type) {
    case 'text':
      return <Markdown text={part.text} />;
    case 'data':
      return <JsonView value={part.value} depth={2} />;
    case 'reasoning':
      return <Reasoning part={part} />;
    case 'tool':
      return <ToolCall part={part} runId={runId} />;
    case 'note':
      return <Note text={part.text} data={part.data} />;
    default:
      return null;
  }
});

function Note({ text, data }: { readonly text: string; readonly data: unknown }) {
  if (data === undefined) return <p className="px-1.5 text-xs text-muted">{text}</p>;
  return (
    <Disclosure summary={<span className="text-xs text-muted">{text}</span>}>
      {() => <JsonView value={data} />}
    </Disclosure>
  );
}

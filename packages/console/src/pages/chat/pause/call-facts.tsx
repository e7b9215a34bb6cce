import type { RequirementBody } from '@runyard/client';
import type { ReactNode } from 'react';
import { JsonView } from '../../../ui/content/json-view.js';
import { KeyValue } from '../../../ui/key-value.js';

/** What the tool is called with. */
export function Arguments({ requirement }: { readonly requirement: RequirementBody }): ReactNode {
  const args = requirement.tool_execution.tool_args ?? {};
  if (Object.keys(args).length === 0) return null;
  const isFlat = Object.values(args).every(
    (value) => typeof value !== 'object' && String(value).length < 400,
  );
  if (!isFlat) return <JsonView value={args} />;
  return (
    <KeyValue
      entries={Object.entries(args).map(([name, value]) => [
        name,
        <span key={name} className="font-mono text-[0.8125rem] whitespace-pre-wrap">
          {String(value)}
        </span>,
      ])}
    />
  );
}

/** Which call it is, and what it does. */
export function titleOf({ tool_execution: call, ...member }: RequirementBody, does: string): string {
  const { member_agent_name: name, member_agent_id: id } = member;
  const who = name ?? id;
  return `${who ? `${who}: ` : ''}${call.tool_name} ${does}`;
}

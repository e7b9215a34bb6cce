import type { Kind } from '@runyard/client';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Markdown } from '../../ui/content/markdown.js';
import { KeyValue } from '../../ui/key-value.js';
import { Tooltip } from '../../ui/tooltip.js';
import { type ComponentDetail, useQuickPrompts } from './use-component.js';

/** What there is to know before the first message. */
export function Intro({
  kind,
  id,
  detail,
  onPrompt,
}: {
  readonly kind: Kind;
  readonly id: string;
  readonly detail: ComponentDetail | undefined;
  onPrompt(text: string): void;
}) {
  const prompts = useQuickPrompts(id);
  const suggested = [...prompts, ...quoted(detail?.description)];
  return (
    <div className="mx-auto flex w-full max-w-2xl flex-col gap-5 px-4 py-10 md:py-16">
      <div>
        <p className="text-lg font-semibold tracking-tight">{detail?.name ?? id}</p>
        {detail?.description && <p className="mt-1 max-w-prose text-muted">{detail.description}</p>}
      </div>
      {detail?.introduction && <Markdown text={detail.introduction} />}
      {detail && (
        <KeyValue
          entries={[
            ['Model', detail.model],
            ['Tools', detail.tools.length > 0 ? <Tools key="tools" tools={detail.tools} /> : undefined],
            ['Members', [...detail.members.values()].join(', ')],
            ['Steps', detail.steps.join(' → ')],
          ]}
        />
      )}
      {suggested.length > 0 && (
        <div className="flex flex-col items-start gap-2">
          <p className="text-xs font-medium text-muted">Try</p>
          {suggested.map((text) => (
            <Button
              key={text}
              className="h-auto! min-h-8 py-1.5 text-left whitespace-normal!"
              onClick={() => onPrompt(text)}
            >
              {text}
            </Button>
          ))}
        </div>
      )}
      {kind === 'workflow' && detail?.inputSchema === undefined && (
        <p className="text-xs text-muted">The message is the input of the workflow.</p>
      )}
    </div>
  );
}

function Tools({ tools }: { readonly tools: ComponentDetail['tools'] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {tools.map(({ name, description }) => (
        <Tooltip key={name} text={description ?? name}>
          <span tabIndex={0} className="rounded">
            <Badge className="font-mono">{name}</Badge>
          </span>
        </Tooltip>
      ))}
    </span>
  );
}

/** A description may quote an example: “My favourite drink is tea.” */
function quoted(description: string | undefined): readonly string[] {
  return Array.from(description?.matchAll(/“([^”]{3,200})”/g) ?? [], ([, text]) => text ?? '');
}

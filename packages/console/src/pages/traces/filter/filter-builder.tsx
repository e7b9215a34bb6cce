import Plus from 'lucide-react/icons/plus';
import X from 'lucide-react/icons/x';
import { useState } from 'react';
import { Button, IconButton } from '../../../ui/button.js';
import { cx } from '../../../ui/class-names.js';
import { CodeBlock } from '../../../ui/content/code-block.js';
import { Field } from '../../../ui/forms/field.js';
import { Select, Textarea } from '../../../ui/forms/inputs.js';
import { Checkbox } from '../../../ui/forms/toggles.js';
import { Panel } from '../../../ui/panel.js';
import {
  type DraftGroup,
  type DraftNode,
  draftOf,
  expressionOf,
  type FilterField,
  isComplete,
  newGroup,
  newRule,
  replaced,
} from './draft.js';
import { type Expression, readExpression } from './expression.js';
import { RuleEditor } from './rule-editor.js';

export interface FilterBuilderProps {
  readonly fields: readonly FilterField[];
  readonly expression: Expression | undefined;
  onApply(expression: Expression | undefined): void;
}

/** Builds an expression of the filter language, with controls or as text. */
export function FilterBuilder({ fields, expression, onApply }: FilterBuilderProps) {
  const [group, setGroup] = useState<DraftGroup>(() => {
    const draft = draftOf(expression);
    return draft.nodes.length > 0 ? draft : newGroup([newRule(fields[0])]);
  });
  const [text, setText] = useState<string>();
  const [fault, setFault] = useState<string>();
  const built = expressionOf(group, fields);
  const readText = (): Expression | undefined => (text?.trim() ? readExpression(text) : undefined);
  const attempt = (work: () => void) => {
    try {
      setFault(undefined);
      work();
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  const asControls = () =>
    attempt(() => {
      setGroup(draftOf(readText()));
      setText(undefined);
    });
  const complete = text !== undefined || isComplete(group);
  return (
    <Panel
      title="Filter"
      className="mb-3"
      actions={
        text === undefined ? (
          <Button size="small" variant="ghost" onClick={() => setText(json(built))}>
            Edit as text
          </Button>
        ) : (
          <Button size="small" variant="ghost" onClick={asControls}>
            Edit with controls
          </Button>
        )
      }
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          attempt(() => onApply(text === undefined ? built : readText()));
        }}
      >
        {text === undefined ? (
          <>
            <GroupEditor group={group} fields={fields} onChange={setGroup} />
            {built && (
              <details>
                <summary className="text-xs text-muted hover:text-text">Show the expression</summary>
                <CodeBlock code={json(built)} language="json" />
              </details>
            )}
          </>
        ) : (
          <Field label="Expression as JSON" error={fault}>
            <Textarea
              rows={8}
              spellCheck={false}
              className="font-mono"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </Field>
        )}
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" variant="primary" disabled={!complete}>
            Apply
          </Button>
          {!complete && <span className="text-xs text-muted">Fill in the value of each condition.</span>}
          {expression && (
            <Button variant="ghost" onClick={() => onApply(undefined)}>
              Show all traces
            </Button>
          )}
        </div>
      </form>
    </Panel>
  );
}

interface GroupEditorProps {
  readonly group: DraftGroup;
  readonly fields: readonly FilterField[];
  onChange(group: DraftGroup): void;
  /** Left out for the outermost group. */
  onRemove?(): void;
}

function GroupEditor({ group, fields, onChange, onRemove }: GroupEditorProps) {
  const change = (node: DraftNode, by: DraftNode | undefined) => onChange(replaced(group, node.id, by));
  const add = (node: DraftNode) => onChange({ ...group, nodes: [...group.nodes, node] });
  return (
    <fieldset className={cx('flex min-w-0 flex-col gap-2', onRemove && 'border-l-2 border-line-strong pl-3')}>
      <legend className="sr-only">{onRemove ? 'Group of conditions' : 'Conditions'}</legend>
      {(onRemove || group.nodes.length > 1) && (
        <div className="flex flex-wrap items-center gap-2">
          {onRemove && (
            <Checkbox
              label="not"
              checked={group.negated}
              onChange={(negated) => onChange({ ...group, negated })}
            />
          )}
          <Select
            aria-label="How the conditions are combined"
            className="max-w-40"
            value={group.op}
            options={[
              { value: 'AND', label: 'all of these' },
              { value: 'OR', label: 'any of these' },
            ]}
            onChange={(event) => onChange({ ...group, op: event.target.value === 'OR' ? 'OR' : 'AND' })}
          />
          {onRemove && (
            <IconButton size="small" label="Remove the group" onClick={onRemove}>
              <X aria-hidden className="size-4" />
            </IconButton>
          )}
        </div>
      )}
      {group.nodes.map((node) =>
        node.kind === 'rule' ? (
          <RuleEditor key={node.id} rule={node} fields={fields} onChange={(next) => change(node, next)} />
        ) : (
          <GroupEditor
            key={node.id}
            group={node}
            fields={fields}
            onChange={(next) => change(node, next)}
            onRemove={() => change(node, undefined)}
          />
        ),
      )}
      <div className="flex flex-wrap gap-1">
        <Button size="small" variant="ghost" onClick={() => add(newRule(fields[0]))}>
          <Plus aria-hidden className="size-3.5" />
          Condition
        </Button>
        <Button size="small" variant="ghost" onClick={() => add(newGroup([newRule(fields[0])], 'OR'))}>
          <Plus aria-hidden className="size-3.5" />
          Group
        </Button>
      </div>
    </fieldset>
  );
}

function json(expression: Expression | undefined): string {
  return expression ? JSON.stringify(expression, null, 2) : '';
}

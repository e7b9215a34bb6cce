import type { RequirementAnswer, RequirementBody } from '@runyard/client';
import { useRef, useState } from 'react';
import { filledFields, schemaOfFields } from '../../../data/input-fields.js';
import { Button } from '../../../ui/button.js';
import { Field } from '../../../ui/forms/field.js';
import { CodeArea, Input, Textarea } from '../../../ui/forms/inputs.js';
import { problemsIn, SchemaForm, startValue } from '../../../ui/forms/schema-form.js';
import { objectIn } from '../run/read-fields.js';
import { ApprovalCard } from './approval-card.js';
import { Arguments, titleOf } from './call-facts.js';
import { ChoiceCard } from './choice-card.js';
import { Decline, PauseCard } from './pause-card.js';
import { askedBy, questionsOf } from './requirement.js';

export interface RequirementCardProps {
  readonly requirement: RequirementBody;
  /** Sends the answer. */
  answer(answer: RequirementAnswer): Promise<unknown>;
  /** Continues without an answer, after an approval was decided elsewhere. */
  proceed(): Promise<unknown>;
}

/** What a call of a tool waits for. */
export function RequirementCard(props: RequirementCardProps) {
  const { requirement, answer } = props;
  const { id } = requirement;
  switch (askedBy(requirement)) {
    case 'approval':
      return <ApprovalCard requirement={requirement} proceed={props.proceed} />;
    case 'result':
      return <ResultCard {...props} />;
    case 'choice':
      return (
        <ChoiceCard
          title={titleOf(requirement, 'asks you')}
          questions={questionsOf(requirement.user_feedback_schema)}
          onAnswer={(selected) =>
            answer({
              id,
              user_feedback_schema: questionsOf(requirement.user_feedback_schema).map(({ question }, at) => ({
                question,
                selected_options: selected[at] ?? [],
              })),
            })
          }
          onDecline={() => answer({ id, confirmation: false })}
        />
      );
    case 'input':
      return <InputCard {...props} />;
    case 'outcome':
      return <OutcomeCard {...props} />;
    default:
      return <ConfirmCard {...props} />;
  }
}

function ConfirmCard({ requirement, answer }: RequirementCardProps) {
  const [note, setNote] = useState('');
  const isConfirmed = useRef(true);
  const { id, message } = requirement;
  return (
    <PauseCard
      title={titleOf(requirement, 'needs your confirmation')}
      detail={message}
      onSubmit={() =>
        answer({ id, confirmation: isConfirmed.current, ...(note && { confirmation_note: note }) })
      }
      actions={(busy) => (
        <>
          <Button
            type="submit"
            variant="primary"
            busy={busy}
            onClick={() => {
              isConfirmed.current = true;
            }}
          >
            Confirm
          </Button>
          <Button
            type="submit"
            variant="danger"
            disabled={busy}
            onClick={() => {
              isConfirmed.current = false;
            }}
          >
            Reject
          </Button>
        </>
      )}
    >
      <Arguments requirement={requirement} />
      <Note value={note} onChange={setNote} />
    </PauseCard>
  );
}

/** A call was interrupted, and its tool may or may not have done its work. */
function OutcomeCard({ requirement, answer }: RequirementCardProps) {
  const { id, message } = requirement;
  const decision = useRef(true);
  const [result, setResult] = useState('');
  return (
    <PauseCard
      title={titleOf(requirement, 'was interrupted: its outcome is not known')}
      detail={message}
      onSubmit={() =>
        answer(
          result === '' ? { id, confirmation: decision.current } : { id, external_execution_result: result },
        )
      }
      actions={(busy) => (
        <>
          <Button
            type="submit"
            busy={busy}
            variant="primary"
            onClick={() => {
              decision.current = true;
            }}
          >
            {result === '' ? 'Call it again' : 'Use this outcome'}
          </Button>
          {result === '' && (
            <Button
              type="submit"
              disabled={busy}
              onClick={() => {
                decision.current = false;
              }}
            >
              Do not call it again
            </Button>
          )}
        </>
      )}
    >
      <Arguments requirement={requirement} />
      <Field label="Outcome, if you know it">
        <Textarea rows={2} value={result} onChange={({ target }) => setResult(target.value)} />
      </Field>
    </PauseCard>
  );
}

function InputCard({ requirement, answer }: RequirementCardProps) {
  const { id, message, user_input_schema: fields, tool_execution: call } = requirement;
  const schema = schemaOfFields(fields);
  const [value, setValue] = useState<unknown>(() => startValue(schema) ?? {});
  const [isTried, setIsTried] = useState(false);
  const isAskedInCall = message !== undefined;
  return (
    <PauseCard
      title={message || titleOf(requirement, 'needs some values')}
      detail={message ? titleOf(requirement, 'asks you') : undefined}
      onSubmit={() => {
        setIsTried(true);
        if (problemsIn(schema, value).size > 0) return undefined;
        return answer({
          id,
          user_input_schema: filledFields(fields, objectIn(value)),
          tool_execution: { tool_call_id: call.tool_call_id, answered: true },
        });
      }}
      actions={(busy) => (
        <>
          <Button type="submit" variant="primary" busy={busy}>
            Send
          </Button>
          <Decline
            isBusy={busy}
            decline={() => answer(isAskedInCall ? { id, cancelled: true } : { id, confirmation: false })}
          />
        </>
      )}
    >
      <Arguments requirement={requirement} />
      <SchemaForm schema={schema} value={value} onChange={setValue} showProblems={isTried} />
    </PauseCard>
  );
}

function ResultCard({ requirement, answer }: RequirementCardProps) {
  const { id } = requirement;
  const [result, setResult] = useState('');
  const [isTried, setIsTried] = useState(false);
  return (
    <PauseCard
      title={titleOf(requirement, 'is executed outside the service')}
      detail="Execute it, and paste its result."
      onSubmit={() => {
        setIsTried(true);
        return result.trim() === '' ? undefined : answer({ id, external_execution_result: result });
      }}
      actions={(busy) => (
        <>
          <Button type="submit" variant="primary" busy={busy}>
            Send the result
          </Button>
          <Decline isBusy={busy} decline={() => answer({ id, confirmation: false })} />
        </>
      )}
    >
      <Arguments requirement={requirement} />
      <Field label="Result" error={isTried && result.trim() === '' ? 'Required' : undefined}>
        <CodeArea rows={4} value={result} onChange={({ target }) => setResult(target.value)} />
      </Field>
    </PauseCard>
  );
}

function Note({ value, onChange }: { readonly value: string; onChange(value: string): void }) {
  return (
    <Field label="Note for the agent (optional)">
      <Input value={value} onChange={({ target }) => onChange(target.value)} />
    </Field>
  );
}

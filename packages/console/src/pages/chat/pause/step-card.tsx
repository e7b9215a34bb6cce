import type { ErrorAnswer, ErrorRequirement, StepAnswer } from '@runyard/client';
import { useRef, useState } from 'react';
import { schemaOfFields } from '../../../data/input-fields.js';
import { Button } from '../../../ui/button.js';
import { Markdown } from '../../../ui/content/markdown.js';
import { Time } from '../../../ui/format/time.js';
import { Field } from '../../../ui/forms/field.js';
import { Textarea } from '../../../ui/forms/inputs.js';
import { JsonField, problemsIn, SchemaForm, startValue } from '../../../ui/forms/schema-form.js';
import { objectIn } from '../run/read-fields.js';
import type { WaitingStep } from '../run/run-view.js';
import { ValueView } from '../turn/long-text.js';
import { ChoiceCard } from './choice-card.js';
import { PauseCard } from './pause-card.js';
import { openIn } from './requirement.js';
import { RequirementCard } from './requirement-card.js';

interface StepCardProps {
  readonly step: WaitingStep;
  answer(answer: StepAnswer): Promise<unknown>;
  proceed(): Promise<unknown>;
}

/** What a step of a workflow waits for. */
export function StepCard({ step, answer, proceed }: StepCardProps) {
  const { step_id, step_name: name } = step;
  if (step.requires_executor_input)
    return openIn(step).map((requirement) => (
      <RequirementCard
        key={requirement.id}
        requirement={requirement}
        answer={(given) => answer({ step_id, executor_requirements: [given] })}
        proceed={proceed}
      />
    ));
  if (step.requires_route_selection)
    return (
      <ChoiceCard
        title={`Step “${name}”: which way?`}
        detail={step.user_input_message ?? undefined}
        questions={[
          {
            question: 'Continue with',
            header: undefined,
            isMultiple: step.allow_multiple_selections,
            options: (step.available_choices ?? []).map((label) => ({ label, description: undefined })),
          },
        ]}
        onAnswer={([selected = []]) => answer({ step_id, selected_choices: selected })}
      />
    );
  return <ReviewCard step={step} answer={answer} proceed={proceed} />;
}

const rejections: Readonly<Record<string, string>> = {
  skip: 'Reject: skip the step',
  cancel: 'Reject: cancel the workflow',
  else: 'Reject: take the other branch',
  retry: 'Reject: repeat the step',
};

/** Confirmation of a step, values for it, or a review of what it made. */
function ReviewCard({ step, answer }: StepCardProps) {
  const { step_id, step_name: name, user_input_schema: fields } = step;
  const schema = schemaOfFields(fields);
  const output = objectIn(step.step_output).content ?? step.step_output;
  const [values, setValues] = useState<unknown>(() => startValue(schema) ?? {});
  const [edited, setEdited] = useState<unknown>(output);
  const [isEditing, setIsEditing] = useState(false);
  const [feedback, setFeedback] = useState('');
  const [isTried, setIsTried] = useState(false);
  const isRejected = useRef(false);
  const asksInput = step.requires_user_input;
  const message = step.confirmation_message ?? step.output_review_message ?? step.user_input_message;
  const submit = () => {
    if (isRejected.current)
      return answer({ step_id, confirmed: false, ...(feedback && { rejection_feedback: feedback }) });
    setIsTried(true);
    if (asksInput && problemsIn(schema, values).size > 0) return undefined;
    return answer({
      step_id,
      confirmed: true,
      ...(asksInput && { user_input: objectIn(values) }),
      ...(isEditing && edited !== undefined && { edited_output: edited }),
    });
  };
  const reject = (isReject: boolean) => () => {
    isRejected.current = isReject;
  };
  return (
    <PauseCard
      title={message ?? `Step “${name}” waits for you`}
      detail={
        <>
          {message && `Step “${name}”. `}
          {step.retry_count > 0 && `Attempt ${step.retry_count + 1} of ${step.max_retries + 1}. `}
          {step.timeout_at && (
            <>
              Without an answer: {step.on_timeout} <Time at={step.timeout_at} />.
            </>
          )}
        </>
      }
      onSubmit={submit}
      actions={(busy) => (
        <>
          <Button type="submit" variant="primary" busy={busy} onClick={reject(false)}>
            {asksInput ? 'Send' : isEditing ? 'Accept with my changes' : 'Confirm'}
          </Button>
          {(!asksInput || step.requires_confirmation) && (
            <Button type="submit" variant="danger" disabled={busy} onClick={reject(true)}>
              {rejections[step.on_reject] ?? 'Reject'}
            </Button>
          )}
        </>
      )}
    >
      {asksInput && <SchemaForm schema={schema} value={values} onChange={setValues} showProblems={isTried} />}
      {step.is_post_execution && output !== undefined && (
        <ReviewedOutput
          output={output}
          edited={edited}
          isEditing={isEditing}
          onEdit={() => setIsEditing(true)}
          onChange={setEdited}
        />
      )}
      {!asksInput && (
        <Field label="Feedback for a rejection (optional)">
          <Textarea rows={2} value={feedback} onChange={({ target }) => setFeedback(target.value)} />
        </Field>
      )}
    </PauseCard>
  );
}

function ReviewedOutput(props: {
  readonly output: unknown;
  readonly edited: unknown;
  readonly isEditing: boolean;
  onEdit(): void;
  onChange(value: unknown): void;
}) {
  const { output, edited, isEditing, onEdit, onChange } = props;
  if (!isEditing)
    return (
      <div className="min-w-0 rounded-md border border-line p-2">
        {typeof output === 'string' ? <Markdown text={output} /> : <ValueView value={output} />}
        <Button size="small" className="mt-2" onClick={onEdit}>
          Edit
        </Button>
      </div>
    );
  if (typeof output !== 'string')
    return <JsonField label="Output" value={edited} onChange={onChange} rows={8} />;
  return (
    <Field label="Output">
      <Textarea rows={8} value={String(edited ?? '')} onChange={({ target }) => onChange(target.value)} />
    </Field>
  );
}

/** A step that failed: whether it is executed again or left out. */
export function FailedStepCard({
  requirement,
  answer,
}: {
  readonly requirement: ErrorRequirement;
  answer(answer: ErrorAnswer): Promise<unknown>;
}) {
  const { step_id, step_name: name, error_message: message, retry_count: count } = requirement;
  const decision = useRef<'retry' | 'skip'>('retry');
  const decide = (next: 'retry' | 'skip') => () => {
    decision.current = next;
  };
  return (
    <PauseCard
      title={`Step “${name}” failed`}
      detail={
        <>
          <span className="text-danger">{message}</span>
          {count > 0 && ` It was repeated ${count === 1 ? 'once' : `${count} times`}.`}
        </>
      }
      onSubmit={() => answer({ step_id, decision: decision.current })}
      actions={(busy) => (
        <>
          <Button type="submit" variant="primary" busy={busy} onClick={decide('retry')}>
            Retry
          </Button>
          <Button type="submit" disabled={busy} onClick={decide('skip')}>
            Skip the step
          </Button>
        </>
      )}
    />
  );
}

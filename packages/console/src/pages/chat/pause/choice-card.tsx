import { useId, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { Decline, PauseCard } from './pause-card.js';
import type { Question } from './requirement.js';

export interface ChoiceCardProps {
  readonly title: string;
  readonly detail?: string | undefined;
  readonly questions: readonly Question[];
  /** With the labels that were chosen for each question. */
  onAnswer(selected: readonly (readonly string[])[]): Promise<unknown>;
  onDecline?(): Promise<unknown>;
}

/** Questions with options to choose from. */
export function ChoiceCard({ title, detail, questions, onAnswer, onDecline }: ChoiceCardProps) {
  const [selected, setSelected] = useState<readonly (readonly string[])[]>(() => questions.map(() => []));
  const [isTried, setIsTried] = useState(false);
  const isMissing = selected.some((labels) => labels.length === 0);
  const choose = (at: number, labels: readonly string[]) =>
    setSelected(selected.map((before, index) => (index === at ? labels : before)));
  return (
    <PauseCard
      title={title}
      detail={detail}
      onSubmit={() => {
        setIsTried(true);
        return isMissing ? undefined : onAnswer(selected);
      }}
      actions={(busy) => (
        <>
          <Button type="submit" variant="primary" busy={busy}>
            Send
          </Button>
          {onDecline && <Decline isBusy={busy} decline={onDecline} />}
        </>
      )}
    >
      {questions.map((question, at) => (
        <Choices
          key={question.question}
          question={question}
          selected={selected[at] ?? []}
          isMissing={isTried && selected[at]?.length === 0}
          onChange={(labels) => choose(at, labels)}
        />
      ))}
    </PauseCard>
  );
}

function Choices({
  question: { question, header, isMultiple, options },
  selected,
  isMissing,
  onChange,
}: {
  readonly question: Question;
  readonly selected: readonly string[];
  readonly isMissing: boolean;
  onChange(labels: readonly string[]): void;
}) {
  const id = useId();
  const toggle = (label: string, isChosen: boolean) => {
    if (!isMultiple) onChange([label]);
    else onChange(isChosen ? [...selected, label] : selected.filter((one) => one !== label));
  };
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1.5 [overflow-wrap:anywhere]">
        {header && <span className="mr-2 text-xs font-medium text-muted">{header}</span>}
        {question}
        {isMultiple && <span className="text-xs text-muted"> (choose any)</span>}
      </legend>
      <div className="flex flex-col gap-1">
        {options.map(({ label, description }) => (
          <label
            key={label}
            className="flex cursor-pointer items-start gap-2 rounded-md border border-line px-2.5 py-1.5 hover:bg-hover has-checked:border-accent-text has-checked:bg-accent-soft"
          >
            <input
              type={isMultiple ? 'checkbox' : 'radio'}
              name={id}
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={selected.includes(label)}
              onChange={({ target }) => toggle(label, target.checked)}
            />
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {label}
              {description && <span className="block text-xs text-muted">{description}</span>}
            </span>
          </label>
        ))}
      </div>
      {isMissing && (
        <p role="alert" className="mt-1 text-xs text-danger">
          Choose an option
        </p>
      )}
    </fieldset>
  );
}

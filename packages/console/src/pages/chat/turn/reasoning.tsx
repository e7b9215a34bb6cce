import Sparkles from 'lucide-react/icons/sparkles';
import { Markdown } from '../../../ui/content/markdown.js';
import { textIn } from '../run/read-fields.js';
import type { Fields, Part } from '../run/run-view.js';
import { Disclosure } from './disclosure.js';

type ReasoningPart = Extract<Part, { type: 'reasoning' }>;

/** What a model thought before it answered. Closed; while it thinks, its last line is shown. */
export function Reasoning({ part }: { readonly part: ReasoningPart }) {
  const { title, text, steps, isLive } = part;
  if (text === '' && steps.length === 0 && !isLive) return null;
  return (
    <Disclosure
      summary={
        <>
          <Sparkles aria-hidden className={`size-3.5 shrink-0 text-muted ${isLive ? 'animate-pulse' : ''}`} />
          <span className="shrink-0 text-muted">{isLive ? 'Thinking …' : title}</span>
          {isLive && (
            <span className="min-w-0 flex-1 truncate text-xs text-muted">{lastLine(text, steps)}</span>
          )}
        </>
      }
    >
      {() => (
        <div className="text-muted">
          {steps.map((step, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps keep their places.
            <ReasoningStep key={at} step={step} />
          ))}
          {text !== '' && <Markdown text={text} />}
        </div>
      )}
    </Disclosure>
  );
}

function ReasoningStep({ step }: { readonly step: Fields }) {
  const { title, reasoning, action, result, confidence } = step;
  return (
    <div className="mb-2">
      <p className="font-medium">{textIn(title) ?? 'Step'}</p>
      {[reasoning, action, result].map(textIn).map(
        // biome-ignore lint/suspicious/noArrayIndexKey: there are three of them.
        (text, at) => text && <Markdown key={at} text={text} />,
      )}
      {typeof confidence === 'number' && (
        <p className="text-xs">Confidence {Math.round(confidence * 100)} %</p>
      )}
    </div>
  );
}

function lastLine(text: string, steps: readonly Fields[]): string {
  const line = text.slice(-400).trimEnd().split('\n').at(-1);
  return line || (textIn(steps.at(-1)?.title) ?? '');
}

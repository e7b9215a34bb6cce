import ChevronRight from 'lucide-react/icons/chevron-right';
import { useState } from 'react';
import { cx } from '../class-names.js';
import { CopyButton } from '../copy-button.js';

/** How many entries of a node are drawn at once. */
export const entriesShown = 100;
/** How much of a text is drawn before a person asks for more. */
export const charactersShown = 2_000;

export interface JsonViewProps {
  readonly value: unknown;
  /** How many levels are open at first. */
  readonly depth?: number;
  readonly label?: string;
}

/** A value as a tree. Only what is open is drawn, and of that only a part: values may be huge. */
export function JsonView({ value, depth = 1, label = 'Copy JSON' }: JsonViewProps) {
  return (
    <div className="relative min-w-0 rounded-lg border border-line bg-sunken">
      <CopyButton
        className="absolute top-1 right-1"
        label={label}
        text={() => JSON.stringify(value, null, 2)}
      />
      <div
        tabIndex={0}
        className="max-h-[32rem] overflow-auto p-3 pr-10 font-mono text-[0.8125rem] leading-6"
      >
        <Node value={value} depth={depth} />
      </div>
    </div>
  );
}

interface NodeProps {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}

function Node({ name, value, depth }: NodeProps) {
  if (typeof value === 'object' && value !== null) return <Branch name={name} value={value} depth={depth} />;
  return (
    <div className="pl-5">
      <Name name={name} />
      <Leaf value={value} />
    </div>
  );
}

function Branch({ name, value, depth }: { name: string | undefined; value: object; depth: number }) {
  const [open, setOpen] = useState(depth > 0);
  const [shown, setShown] = useState(entriesShown);
  const isList = Array.isArray(value);
  const keys = Object.keys(value);
  const summary = isList ? `[${keys.length}]` : `{${keys.length}}`;
  if (keys.length === 0)
    return (
      <div className="pl-5">
        <Name name={name} />
        <span className="text-muted">{isList ? '[]' : '{}'}</span>
      </div>
    );
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        className="flex max-w-full items-center gap-1 rounded text-left hover:bg-hover"
        onClick={() => setOpen(!open)}
      >
        <ChevronRight
          aria-hidden
          className={cx('size-4 shrink-0 transition-transform', open && 'rotate-90')}
        />
        <span className="truncate">
          <Name name={name} />
          <span className="text-muted">{summary}</span>
        </span>
      </button>
      {open && (
        <div className="ml-2 border-l border-line pl-1">
          {keys.slice(0, shown).map((key) => (
            <Node key={key} name={key} value={Reflect.get(value, key)} depth={depth - 1} />
          ))}
          {keys.length > shown && (
            <More
              text={`${keys.length - shown} more`}
              onClick={() => setShown((count) => count + entriesShown)}
            />
          )}
        </div>
      )}
    </div>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : <span className="text-accent-text">{name}: </span>;
}

function Leaf({ value }: { readonly value: unknown }) {
  const [shown, setShown] = useState(charactersShown);
  if (typeof value !== 'string')
    return <span className="text-warning">{value === undefined ? 'undefined' : String(value)}</span>;
  return (
    <>
      <span className="whitespace-pre-wrap text-success [overflow-wrap:anywhere]">
        "{value.slice(0, shown)}
        {value.length <= shown && '"'}
      </span>
      {value.length > shown && (
        <More
          text={`${value.length - shown} more characters`}
          onClick={() => setShown((count) => count + 20 * charactersShown)}
        />
      )}
    </>
  );
}

function More({ text, onClick }: { readonly text: string; onClick(): void }) {
  return (
    <button type="button" className="ml-5 font-sans text-xs text-accent-text underline" onClick={onClick}>
      Show {text}
    </button>
  );
}

import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { CodeBlock } from '../../../ui/content/code-block.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { formatCount } from '../../../ui/format/numbers.js';

const shownAtFirst = 10_000;
const longestParsed = 1_000_000;

/** What a tool or a step gave: JSON as a tree, a text as it is. Of a long text a part, until a person wants all of it. */
export function ValueView({ value }: { readonly value: unknown }) {
  if (typeof value !== 'string') return <JsonView value={value} />;
  const parsed = parsedJson(value);
  return parsed === undefined ? <LongText text={value} /> : <JsonView value={parsed} />;
}

function LongText({ text }: { readonly text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const isCut = text.length > shownAtFirst && !isWhole;
  return (
    <>
      <CodeBlock wraps code={isCut ? text.slice(0, shownAtFirst) : text} />
      {isCut && (
        <Button size="small" onClick={() => setIsWhole(true)}>
          Show all {formatCount(text.length)} characters
        </Button>
      )}
    </>
  );
}

function parsedJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > longestParsed) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

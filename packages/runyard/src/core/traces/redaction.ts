import { isJsonObject, type Json, parseJson } from '../json.js';
import { isSecretName, plainName, removedSecret, withoutSecretsInText } from '../secret-names.js';
import { safeExpression } from './safe-expression.js';
import { LazySpan, type Span, type SpanAttributes } from './span.js';

/** What of a run its traces show. */
export interface TraceRedaction {
  /** `none`: no messages, and no input or output of tools. */
  readonly content: 'full' | 'none';
  /** Fields whose values are removed, as `plainName` writes them. */
  readonly fields: ReadonlySet<string>;
  readonly expressions: readonly RegExp[];
}

const expressionForm = /^\/(.+)\/([a-z]*)$/s;

/** Why a rule of `traceRedact` cannot be followed; undefined when it can. */
export function redactionFault(rule: string): string | undefined {
  try {
    traceRedaction('full', [rule]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Each rule is the name of a field, or an expression between slashes. */
export function traceRedaction(content: 'full' | 'none', rules: readonly string[]): TraceRedaction {
  const fields = new Set<string>();
  const expressions: RegExp[] = [];
  for (const rule of rules) {
    const [, source, flags] = expressionForm.exec(rule) ?? [];
    if (source === undefined) fields.add(plainName(rule));
    else expressions.push(safeExpression(source, flags ?? ''));
  }
  return { content, fields, expressions };
}

/** The spans without what must not be seen. Views and exports show no others. */
export function redactSpans(redaction: TraceRedaction, spans: readonly Span[]): Span[] {
  return spans.map((span) => redactSpan(redaction, span));
}

/** Attributes are built and redacted when they are read: not before, and not twice. */
function redactSpan(redaction: TraceRedaction, span: Span): Span {
  const { statusMessage } = span;
  const message = statusMessage === null ? null : redactText(redaction, statusMessage);
  return new LazySpan({ ...span, statusMessage: message }, () =>
    redactAttributes(redaction, span.attributes),
  );
}

/** What a person or a model said, as traces show it; undefined when they show nothing of it. */
export function redactContent(redaction: TraceRedaction, text: string): string | undefined {
  return redaction.content === 'none' ? undefined : redactValue(redaction, text);
}

/** Attributes with a part of this name hold what was said, or the input or output of a tool. */
const contentParts: ReadonlySet<string> = new Set([
  'value',
  'messages',
  'input_messages',
  'output_messages',
  'arguments',
  'result',
  'parameters',
  'system_instructions',
  'content',
  'text',
  'documents',
  'query',
]);

function redactAttributes(redaction: TraceRedaction, attributes: SpanAttributes): SpanAttributes {
  const redacted: Record<string, SpanAttributes[string]> = {};
  let [text, shown] = ['', ''];
  for (const key in attributes) {
    if (redaction.content === 'none' && key.split('.').some((part) => contentParts.has(part))) continue;
    const value = attributes[key] ?? '';
    if (typeof value === 'string') {
      // the arguments of a tool call are also its input: they are redacted once
      if (value !== text) [text, shown] = [value, redactValue(redaction, value)];
      redacted[key] = shown;
    } else redacted[key] = Array.isArray(value) ? value.map((item) => redactText(redaction, item)) : value;
  }
  return redacted;
}

/** JSON may hold JSON as text, which may again; deeper it is treated as plain text. */
const deepestJson = 8;

/** A text, with what is removed from it if it holds JSON. A text that nothing is removed from stays as it is. */
function redactValue(redaction: TraceRedaction, text: string, depth = 0): string {
  const parsed = depth < deepestJson ? parsedStructure(text) : undefined;
  if (parsed === undefined) return redactText(redaction, text);
  const redacted = redactJson(redaction, parsed, depth + 1);
  return redacted === parsed ? text : JSON.stringify(redacted);
}

function parsedStructure(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function redactJson(redaction: TraceRedaction, value: Json, depth: number): Json {
  if (typeof value === 'string') return redactValue(redaction, value, depth);
  if (Array.isArray(value)) {
    const items = value.map((item) => redactJson(redaction, item, depth));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value);
  const members = names.map((name) => {
    const inner = value[name] ?? null;
    const isHidden = inner !== null && (isSecretName(name) || isNamed(redaction, name));
    return isHidden ? removedSecret : redactJson(redaction, inner, depth);
  });
  if (members.every((member, index) => member === value[names[index] ?? ''])) return value;
  return Object.fromEntries(members.map((member, index) => [names[index], member]));
}

function isNamed({ fields }: TraceRedaction, name: string): boolean {
  return fields.size > 0 && fields.has(plainName(name));
}

function redactText({ expressions }: TraceRedaction, text: string): string {
  let redacted = withoutSecretsInText(text);
  for (const expression of expressions) redacted = replaced(expression, redacted);
  return redacted;
}

/** An expression sees this many characters at once, so that no text can keep it busy for long. */
const windowSize = 2048;
/** Windows overlap: a match up to this length is found wherever it stands. */
const overlap = 512;

function replaced(expression: RegExp, text: string): string {
  let result = '';
  let from = 0;
  while (from < text.length) {
    const window = text.slice(from, from + windowSize);
    const isLast = from + windowSize >= text.length;
    const reach = isLast ? window.length : windowSize - overlap;
    let done = 0;
    for (const match of window.matchAll(expression)) {
      if (match.index >= reach && !isLast) break;
      result += window.slice(done, match.index) + removedSecret;
      done = match.index + match[0].length;
    }
    const end = Math.max(done, reach);
    result += window.slice(done, end);
    from += end;
  }
  return result;
}

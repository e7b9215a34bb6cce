import type { Json } from '../json.js';
import type { Run } from '../runs/run.js';
import type { SpanAttributes } from './span.js';

type Value = SpanAttributes[string];

/** Attributes of the values that exist: one that is missing or empty gets none. */
export function attributesOf(values: Readonly<Record<string, Value | null | undefined>>): SpanAttributes {
  const given: Record<string, Value> = {};
  for (const key in values) {
    const value = values[key];
    if (value !== undefined && value !== null && value !== '') given[key] = value;
  }
  return given;
}

/** What every span says about its owner. */
export function ownership({ sessionId, userId }: Run, brief: boolean): SpanAttributes {
  return attributesOf({
    'session.id': sessionId,
    'user.id': userId,
    'gen_ai.conversation.id': brief ? undefined : sessionId,
  });
}

export function failureAttributes(message: string | null, type: string | undefined): SpanAttributes {
  return attributesOf({
    'exception.message': message,
    'exception.type': type,
    'error.type': message === null ? undefined : (type ?? '_OTHER'),
  });
}

export function contentAttributes(side: 'input' | 'output', content: Json | undefined): SpanAttributes {
  if (content === undefined || content === null) return {};
  const isText = typeof content === 'string';
  return {
    [`${side}.value`]: isText ? content : JSON.stringify(content),
    [`${side}.mime_type`]: isText ? 'text/plain' : 'application/json',
  };
}

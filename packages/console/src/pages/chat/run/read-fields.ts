import {
  type Citations,
  type Fields,
  type MediaLists,
  type Metrics,
  mediaKinds,
  type SearchReferences,
} from './run-view.js';

/** The service describes some fields only as objects. These functions read them without trusting their shape. */
export function objectIn(value: unknown): Fields {
  // the check is beside it
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function objectsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function textsIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one) => typeof one === 'string');
  return texts.length > 0 ? texts : undefined;
}

export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function metricsIn(value: unknown): Metrics | undefined {
  const metrics = objectIn(value);
  if (Object.keys(metrics).length === 0) return undefined;
  return {
    inputTokens: numberIn(metrics.input_tokens),
    outputTokens: numberIn(metrics.output_tokens),
    totalTokens: numberIn(metrics.total_tokens),
    cost: numberIn(metrics.cost),
    seconds: numberIn(metrics.duration),
  };
}

export function mediaIn(given: unknown): MediaLists | undefined {
  const source = objectIn(given);
  const lists = mediaKinds.flatMap((kind) => {
    // inputs have `audios`, outputs `audio`
    const found = objectsIn(source[kind] ?? (kind === 'audio' ? source.audios : undefined));
    return found.length > 0 ? [[kind, found] as const] : [];
  });
  return lists.length > 0 ? Object.fromEntries(lists) : undefined;
}

export function referencesIn(value: unknown): readonly SearchReferences[] | undefined {
  const searches = objectsIn(value).map(({ query, references }) => ({
    query: textIn(query) ?? '',
    references: objectsIn(references).map(({ name, content, meta_data }) => ({
      name: textIn(name) ?? null,
      content: textIn(content) ?? '',
      meta_data: objectIn(meta_data),
    })),
  }));
  return searches.length > 0 ? searches : undefined;
}

export function citationsIn(value: unknown): Citations | undefined {
  const citations = objectIn(value);
  return Object.keys(citations).length > 0 ? citations : undefined;
}

const endings: Readonly<Record<string, string>> = {
  length: 'The answer was cut: the model reached its limit of tokens.',
  content_filter: 'The provider of the model withheld a part of the answer.',
  refusal: 'The model declined to answer.',
};

export function endingIn(reason: unknown, message: unknown): string | undefined {
  const ending = endings[String(reason)];
  return ending && [ending, textIn(message)].filter(Boolean).join(' ');
}

export function statusIn(value: unknown): string {
  return String(value).toLowerCase();
}

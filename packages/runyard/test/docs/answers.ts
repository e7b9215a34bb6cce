/** What a page shows of an answer is a part of it: `…` stands for anything, also for the rest of a list or an object. */
const anything = '…';

/** Why an answer is not what the page shows, or undefined when it is. */
export function jsonMismatch(shown: unknown, actual: unknown, at = 'the answer'): string | undefined {
  if (shown === anything) return undefined;
  if (typeof shown === 'string' && typeof actual === 'string') {
    return matches(shown, actual) ? undefined : `${at} is "${actual}", not "${shown}"`;
  }
  if (Array.isArray(shown)) return listMismatch(shown, actual, at);
  if (typeof shown === 'object' && shown !== null) return objectMismatch(shown, actual, at);
  return shown === actual ? undefined : `${at} is ${JSON.stringify(actual)}, not ${JSON.stringify(shown)}`;
}

function listMismatch(shown: readonly unknown[], actual: unknown, at: string): string | undefined {
  if (!Array.isArray(actual)) return `${at} is no list`;
  const open = shown.at(-1) === anything;
  const items = open ? shown.slice(0, -1) : shown;
  if (actual.length < items.length || (!open && actual.length > items.length)) {
    return `${at} has ${actual.length} items, not ${items.length}`;
  }
  return firstOf(items.map((item, index) => jsonMismatch(item, actual[index], `${at}[${index}]`)));
}

function objectMismatch(shown: object, actual: unknown, at: string): string | undefined {
  if (typeof actual !== 'object' || actual === null) return `${at} is no object`;
  const fields = Object.entries(shown).filter(([name]) => name !== anything);
  return firstOf(
    fields.map(([name, value]) =>
      name in actual
        ? jsonMismatch(value, (actual as Record<string, unknown>)[name], `${at}.${name}`)
        : `${at} has no ${name}`,
    ),
  );
}

/** Each shown line must be in the answer, after the one before it. */
export function textMismatch(shown: string, actual: string): string | undefined {
  const lines = actual.split('\n');
  let from = 0;
  for (const line of shown.split('\n').filter((text) => text.trim() !== '' && text.trim() !== anything)) {
    const at = lines.findIndex((candidate, index) => index >= from && matches(line.trim(), candidate.trim()));
    if (at === -1) return `no line '${line}' in:\n${lines.slice(from).join('\n')}`;
    from = at + 1;
  }
  return undefined;
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split(anything).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*')}$`).test(text);
}

function firstOf(faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined);
}

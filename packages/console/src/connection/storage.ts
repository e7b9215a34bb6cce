/** Storage of the browser, which a person may have forbidden: then nothing is kept. */
export function stored(area: 'local' | 'session', key: string): string | undefined {
  try {
    return storage(area).getItem(name(key)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Undefined removes it. */
export function store(area: 'local' | 'session', key: string, value: string | undefined): void {
  try {
    if (value === undefined) storage(area).removeItem(name(key));
    else storage(area).setItem(name(key), value);
  } catch {
    // nothing is kept
  }
}

function storage(area: 'local' | 'session'): Storage {
  return area === 'local' ? localStorage : sessionStorage;
}

function name(key: string): string {
  return `runyard.${key}`;
}

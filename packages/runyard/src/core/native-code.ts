const natives = new WeakSet<object>();

/** Marks a model, tool or hook as Runyard's own: it leaves nothing behind, and is called without an owner. */
export function native<T extends object>(made: T): T {
  natives.add(made);
  return made;
}

export function isNative(made: object): boolean {
  return natives.has(made);
}

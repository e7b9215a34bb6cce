/** A text without halves of characters, which providers reject: a cut text may end in one. */
export function wellFormed(text: string): string {
  // every Node of today has it; the types are those of ES2023
  return (text as WellFormedText).toWellFormed();
}

/** In Node 20 and later, but not in the library that goes with the version of the language. */
type WellFormedText = string & { toWellFormed(): string };

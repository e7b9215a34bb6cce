/** How much of a text is shown when there is no room for all of it. */
const shortened = 1000;

/**
 * How many characters of inputs and outputs one answer may hold. What a model was shown grows with each of its calls,
 * so that a long conversation as a tree of spans is many times as long as itself.
 */
export class TextBudget {
  constructor(private left = 16_000_000) {}

  spend(text: string): string {
    const shown =
      text.length <= Math.max(this.left, shortened)
        ? text
        : `${text.slice(0, shortened)}… [cut; read the span alone for all of it]`;
    this.left -= shown.length;
    return shown;
  }
}

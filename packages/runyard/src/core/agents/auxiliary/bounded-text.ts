/** The text, or its beginning and end with a note about what is left out: what auxiliary models read is bounded. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = wholeCharacters(text, Math.floor(limit * 0.7));
  const tail = wholeCharacters(text, text.length - Math.floor(limit * 0.3));
  return `${text.slice(0, head)}\n[… ${tail - head} characters left out …]\n${text.slice(tail)}`;
}

/** A place to cut that is not between the two halves of a character. */
function wholeCharacters(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

/**
 * About how many tokens a text is, without a tokenizer: four characters of plain ASCII make one, other scripts
 * need nearly one for each character.
 */
export function estimatedTokens(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) others += 1;
  return Math.ceil((text.length - others) / 4 + others / 1.5);
}

const sessionNameLength = 255;

/** What a session is called after a message; null for an empty one. */
export function sessionNameOf(message: string): string | null {
  if (message.trim() === '') return null;
  const text = onOneLine(message);
  if (text.length <= sessionNameLength) return text;
  const characters = [...text.slice(0, 2 * sessionNameLength + 2)];
  return characters.length <= sessionNameLength
    ? text
    : `${characters.slice(0, sessionNameLength - 1).join('')}…`;
}

/** An object that is written over many lines is shown on one. */
function onOneLine(message: string): string {
  if (!/^\{\r?\n/.test(message)) return message;
  try {
    return JSON.stringify(JSON.parse(message));
  } catch {
    return message;
  }
}

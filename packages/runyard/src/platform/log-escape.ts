/**
 * Characters that are not seen, and that change what is: line ends beyond the usual ones, the second set of control
 * characters, and those that turn the direction of a text. They serve only to make a log misread.
 */
const unseen = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const eachUnseen = new RegExp(unseen.source, 'g');
const eachControl = new RegExp(`[\\u0000-\\u001f]|${unseen.source}`, 'g');

/** Writes them as JSON does, `\u202e`. */
export function escapeUnseen(text: string): string {
  return unseen.test(text) ? text.replace(eachUnseen, escaped) : text;
}

/** The same for the usual control characters too, line ends among them. */
export function escapeControls(text: string): string {
  return text.replace(eachControl, escaped);
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

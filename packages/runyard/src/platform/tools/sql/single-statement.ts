/**
 * Checks that a text is one statement that only reads, as SQLite would understand it: the library prepares the
 * first statement of a text and says nothing about the rest. Answers with the text.
 */
export function singleReadingStatement(sql: string): string {
  const words = significantText(sql);
  const [first = '', ...others] = words.split(';');
  if (others.some((rest) => rest.trim() !== ''))
    throw new Error('Only one statement at a time is executed. Leave out what follows the ;');
  const keyword = /^\s*([a-zA-Z]+)/.exec(first)?.[1]?.toUpperCase() ?? '';
  if (!['SELECT', 'WITH', 'VALUES', 'EXPLAIN'].includes(keyword))
    throw new Error('Only queries are executed: begin with SELECT, WITH, VALUES or EXPLAIN.');
  return sql;
}

const quotes: Readonly<Record<string, string>> = { "'": "'", '"': '"', '`': '`', '[': ']' };

/** The statement without comments, and with the content of strings and quoted names taken out. */
function significantText(sql: string): string {
  let text = '';
  let position = 0;
  while (position < sql.length) {
    const character = sql.charAt(position);
    const quote = quotes[character];
    if (sql.startsWith('--', position)) position = endOf(sql, '\n', position + 2);
    else if (sql.startsWith('/*', position)) position = endOf(sql, '*/', position + 2);
    else if (quote !== undefined) {
      // A doubled quote stands for itself: the next turn takes it for a string that begins at once, which is as good.
      position = endOf(sql, quote, position + 1);
      text += ' ';
      continue;
    } else {
      text += character;
      position += 1;
      continue;
    }
    text += ' ';
  }
  return text;
}

function endOf(sql: string, text: string, from: number): number {
  const found = sql.indexOf(text, from);
  return found < 0 ? sql.length : found + text.length;
}

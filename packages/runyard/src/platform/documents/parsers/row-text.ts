/** A row is one line, also where its cells have several; a row of empty cells is an empty line. */
export function rowText(cells: readonly string[]): string {
  const texts = cells.map((cell) => cell.replace(/\s+/g, ' ').trim());
  return texts.every((text) => text === '') ? '' : texts.join(', ');
}

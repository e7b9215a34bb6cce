/** A name of a schema or a function as all providers take it: letters, digits, _ and -, at most 64. */
export function wireName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

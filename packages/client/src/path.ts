/** Fills ids into a path. An empty one would lead to the collection, dots to what is above it. */
export function pathOf(template: string, ...ids: readonly unknown[]): string {
  let at = 0;
  return template.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const id = String(ids[at] ?? '');
    at += 1;
    if (/^\.{0,2}$/.test(id)) throw new TypeError(`${name} is not an id: '${id}'`);
    return encodeURIComponent(id);
  });
}

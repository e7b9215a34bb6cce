/** JSON; a form if there are files in it. */
export function encoded(body: object): string | FormData {
  if (body instanceof FormData) return body;
  if (!hasFiles(body)) return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    for (const one of isFile([value].flat()[0]) ? [value].flat() : [value])
      form.append(name, isFile(one) || typeof one === 'string' ? one : JSON.stringify(one));
  }
  return form;
}

/** Whether the body is sent as a form, which takes its time. */
export function hasFiles(body: object): boolean {
  return body instanceof FormData || Object.values(body).flat().some(isFile);
}

function isFile(value: unknown): value is Blob {
  return value instanceof Blob;
}

/** The resource of a model by Google's name for it, which may have its folder before it already. */
export function modelPath(id: string): string {
  return /^[a-zA-Z]+\//.test(id) ? id : `models/${id}`;
}

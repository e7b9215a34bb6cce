import { errors } from '../../errors/errors.js';

/** The resource of a model by Google's name for it, which may have its folder before it already. */
export function modelName(id: string): string {
  return /^[a-zA-Z]+\//.test(id) ? id : `models/${id}`;
}

/** The same in an address. An id comes from a configuration, and must lead to a model and nowhere else. */
export function modelPath(id: string): string {
  const parts = modelName(id).split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    throw errors.invalidConfig(`'${id}' is not the id of a model: its parts must not be empty, '.' or '..'.`);
  return parts.map(encodeURIComponent).join('/');
}

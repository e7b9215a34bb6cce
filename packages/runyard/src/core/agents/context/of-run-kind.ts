import type { Kind, Optional } from '../../options/kind.js';
import { anyOf, callable } from '../../options/kinds.js';

/** What a value may be that a function of the run can also return. */
export function ofRun(of: Kind): Optional {
  return { ...anyOf(of, callable), allowed: `${of.allowed}, or a function of the run` };
}

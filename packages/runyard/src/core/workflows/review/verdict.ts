import type { Json } from '../../json.js';
import type { Shaped } from '../../runs/journal/shapes.js';
import { cancelled } from './ask.js';
import type { reviewAnswer, StepRequirement } from './step-requirement.js';

/** The decision on an output that was reviewed. */
export type Verdict =
  | { readonly verdict: 'kept'; readonly edited?: Json }
  | { readonly verdict: 'skipped'; readonly text: string }
  | { readonly verdict: 'again'; readonly feedback: string };

export type Reviewed = Shaped<typeof reviewAnswer.shape>;

export function verdictOn(requirement: StepRequirement, what: string, answer: Reviewed): Verdict {
  const { on_timeout, on_reject, retry_count, max_retries } = requirement;
  if ('timed_out' in answer) {
    if (on_timeout === 'approve') return { verdict: 'kept' };
    if (on_timeout === 'skip')
      return { verdict: 'skipped', text: `${what} was discarded: it was not reviewed in time.` };
    throw cancelled(requirement, 'was not reviewed in time.');
  }
  const { confirmed, edited_output: edited, rejection_feedback: feedback = '' } = answer;
  if (confirmed) return { verdict: 'kept', ...(edited !== undefined && { edited }) };
  if (on_reject === 'skip') return { verdict: 'skipped', text: `${what} was discarded: it was rejected.` };
  if (on_reject !== 'retry')
    throw cancelled(requirement, feedback ? `was rejected: ${feedback}` : 'was rejected.');
  if (retry_count >= max_retries) throw cancelled(requirement, `was rejected ${retry_count + 1} times.`);
  return { verdict: 'again', feedback };
}

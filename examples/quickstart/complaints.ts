import { agent, condition, parallel, type StepContext, step, workflow } from 'runyard';
import { z } from 'zod';
import { model } from './model.ts';
import { orders } from './support.ts';

const complaint = z.object({ order: z.number().int(), euros: z.number().nonnegative() });

const reader = agent({
  id: 'complaint-reader',
  name: 'Complaint reader',
  model,
  instructions: 'Read which order the complaint is about, and how many euros the customer wants back.',
  outputSchema: complaint,
});

/** Both use the output of the step `read`, in parallel. */
const checks = parallel({
  name: 'checks',
  steps: [
    step({ name: 'order', run: (context) => orders.get(readIn(context).order)?.item ?? 'an unknown order' }),
    step({ name: 'in time', run: (context) => (orders.get(readIn(context).order)?.days ?? 99) <= 30 }),
  ],
});

/** Refunds a small amount at once, and a larger one after a person has approved it. */
const decision = condition({
  name: 'more than 50 euros',
  when: 'previous_step_outputs.read.euros > 50',
  steps: [
    step({
      name: 'approved refund',
      review: { requiresConfirmation: true, confirmationMessage: 'More than 50 euros: give them back?' },
      run: refund,
    }),
  ],
  otherwise: [step({ name: 'refund', run: refund })],
});

/** Reads a complaint, looks into it, gives money back, and writes the answer. */
export const complaints = workflow({
  id: 'complaints',
  name: 'Complaints',
  description: 'Settles a complaint: “Order 1002 arrived broken, I want 80 euros back”.',
  steps: [step({ name: 'read', agent: reader }), checks, decision, step({ name: 'letter', run: letter })],
});

function refund(context: StepContext): string {
  return contentOf(context, 'in time') === true
    ? `We give you ${readIn(context).euros} euros back.`
    : 'It is too late to give money back.';
}

function letter(context: StepContext): string {
  const { 'approved refund': approved, refund: small } = context.previousStepOutputs;
  const given = approved?.skipped ? 'We cannot give you the money back.' : (approved ?? small)?.content;
  return `Dear customer, you wrote about ${contentOf(context, 'order')}. ${given}`;
}

function readIn(context: StepContext): z.infer<typeof complaint> {
  return complaint.parse(contentOf(context, 'read'));
}

/** The output of an earlier step. */
function contentOf({ previousStepOutputs }: StepContext, name: string) {
  return previousStepOutputs[name]?.content;
}

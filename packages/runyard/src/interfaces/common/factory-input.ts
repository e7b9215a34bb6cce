import type { CreateForm } from '../../capabilities/runs/schema.js';

/** The field of the form that a factory reads: what is wrong with it is refused where the run starts, as over REST. */
export function factoryInputField(given: unknown): Pick<CreateForm, 'factory_input'> {
  return given == null ? {} : { factory_input: JSON.stringify(given) };
}

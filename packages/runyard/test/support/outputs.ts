import { expect } from 'vitest';
import type { RunOutput } from '../../src/index.js';

/** The output of a run that has to be paused. */
export function pausedOutput<Output extends RunOutput>(
  output: Output,
): Extract<Output, { status: 'paused' }> {
  expect(output.status).toBe('paused');
  return output as Extract<Output, { status: 'paused' }>;
}

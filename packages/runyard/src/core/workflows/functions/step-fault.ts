import { RunFailed } from '../../runs/executable.js';

/** A failure that the next try of a function would only repeat. */
export class StepFault extends RunFailed {}

/** Thrown by `suspend` in the function of a step when the person declined to fill in what it asks for. */
export class AnswerRejected extends StepFault {
  constructor(
    stepName: string,
    /** What the person said about it. */
    readonly feedback: string | null,
  ) {
    const why = feedback === null || feedback === '' ? '' : `: ${feedback}`;
    super({ type: 'step_rejected', message: `The question of '${stepName}' was rejected${why}.` });
    this.name = 'AnswerRejected';
  }
}

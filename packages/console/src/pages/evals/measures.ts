import type { EvalRun, Kind } from '@runyard/client';
import { formatDuration } from '../../ui/format/numbers.js';

/** A number that an eval found, by which its runs can be compared. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly text: string;
}

type Data = Readonly<Record<string, unknown>>;

/** What came out, in short. Which numbers there are depends on the type of the eval. */
export function measuresOf({ eval_type: type, eval_data: data }: EvalRun): readonly Measure[] {
  switch (type) {
    case 'accuracy':
      return score('accuracy', data);
    case 'agent_as_judge':
      return [...passRate('passed', data), ...score('score', data)];
    case 'performance': {
      const seconds = numberIn(data, 'avg_run_time');
      if (seconds === undefined) return [];
      return [{ name: 'mean time', value: seconds, text: formatDuration(seconds * 1_000) }];
    }
    case 'reliability': {
      const { eval_status: status } = data;
      if (typeof status !== 'string') return [];
      return [{ name: 'tool calls', value: status === 'PASSED' ? 1 : 0, text: status.toLowerCase() }];
    }
    case 'custom':
      return scorersIn(data).flatMap((scorer) => {
        const name = String(scorer.name);
        const rate = passRate(name, scorer);
        return rate.length > 0 ? rate : score(name, scorer);
      });
  }
}

function scorersIn({ scorers }: Data): readonly Data[] {
  return Array.isArray(scorers) ? scorers : [];
}

function score(name: string, data: Data): readonly Measure[] {
  const value = numberIn(data, 'avg_score');
  return value === undefined ? [] : [{ name, value, text: String(Number(value.toFixed(2))) }];
}

function passRate(name: string, data: Data): readonly Measure[] {
  const value = numberIn(data, 'pass_rate');
  return value === undefined ? [] : [{ name, value, text: `${Math.round(value)} %` }];
}

function numberIn(data: Data, key: string): number | undefined {
  const value = data[key];
  return typeof value === 'number' ? value : undefined;
}

export function componentOf(run: EvalRun): { readonly kind: Kind; readonly id: string } | undefined {
  if (run.agent_id) return { kind: 'agent', id: run.agent_id };
  if (run.team_id) return { kind: 'team', id: run.team_id };
  if (run.workflow_id) return { kind: 'workflow', id: run.workflow_id };
  return undefined;
}

export const typeWords: Readonly<Record<EvalRun['eval_type'], string>> = {
  accuracy: 'accuracy',
  agent_as_judge: 'judge',
  performance: 'performance',
  reliability: 'reliability',
  custom: 'scorers',
};

export function nameOf({ id, name, eval_type, evaluated_component_name }: EvalRun): string {
  return name ?? `${evaluated_component_name ?? id}, ${typeWords[eval_type]}`;
}

export function isMoving({ status }: Pick<EvalRun, 'status'>): boolean {
  return status === 'pending' || status === 'running';
}

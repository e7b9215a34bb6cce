import type { Capability } from '../capability.js';
import { DatabaseEvals } from './database-evals.js';
import { checkJudge } from './eval-models.js';
import { EvalScorers } from './eval-scorers.js';
import { evals as evalTables } from './migrations/0018-evals.js';
import { EvalResultStore } from './results-store.js';
import { type EvalServices, evalRoutes } from './routes.js';
import { EvalsService } from './service.js';
import { EvalStore } from './store.js';
import type { StoredPlan } from './stored-eval.js';

declare module '../capability.js' {
  interface Services extends EvalServices {}
  interface RunSpace {
    readonly evals: DatabaseEvals;
  }
}

/** Evals of components and of stored runs. */
export const evals: Capability = {
  name: 'evals',
  migrations: [evalTables],
  routes: evalRoutes,
  section: { name: 'evals', table: 'eval_runs' },
  open(site) {
    const { settings, components, spaces, prices, services } = site;
    checkJudge(settings.evalJudge);
    const scorers = new EvalScorers(site.scorers ?? []);
    const { runs, sessionRuns: sessions } = services;
    return {
      services: { evals: new EvalsService({ components, spaces, settings, scorers, sessions }) },
      inDatabase(database, space) {
        const parts = {
          slots: settings.maxJobs,
          store: new EvalStore(database),
          results: new EvalResultStore(database),
          async prepare(evalId: string, plan: StoredPlan) {
            const { preparedEval } = await import('./prepared-eval.js');
            return preparedEval({ components, runs, settings, scorers, prices }, space, evalId, plan);
          },
        };
        // the space has its jobs when everything is built
        const inDatabase = new DatabaseEvals(parts, () => space.jobs);
        return { parts: { evals: inDatabase }, jobs: [inDatabase.job] };
      },
    };
  },
};

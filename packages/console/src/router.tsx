import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { consoleBase } from './connection/base.js';
import { NotFoundPage, PageFailed, PagePending } from './shell/page-states.js';
import { Shell } from './shell/shell.js';

/** The query of an address: plain texts, so that addresses stay readable. Pages read them with useSearchState(). */
export type Search = Readonly<Record<string, string | undefined>>;

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFoundPage,
  // parseSearch, below, makes texts of everything
  validateSearch: (search: Record<string, unknown>): Search => search as Search,
  // the chosen database stays when another page is opened
  search: { middlewares: [retainSearchParams(['db'])] },
});

/** A page of the console. Its code is loaded when it is opened. */
function page<const Path extends string>(path: Path, component: RouteComponent) {
  return createRoute({ getParentRoute: () => root, path, component });
}

const routeTree = root.addChildren([
  page(
    '/',
    lazyRouteComponent(() => import('./pages/home/home-page.js'), 'HomePage'),
  ),
  page(
    '/chat/$kind/$componentId',
    lazyRouteComponent(() => import('./pages/chat/chat-page.js'), 'ChatPage'),
  ),
  page(
    '/runs',
    lazyRouteComponent(() => import('./pages/runs/runs-page.js'), 'RunsPage'),
  ),
  page(
    '/runs/$kind/$componentId/$runId',
    lazyRouteComponent(() => import('./pages/runs/run-page.js'), 'RunPage'),
  ),
  page(
    '/traces',
    lazyRouteComponent(() => import('./pages/traces/traces-page.js'), 'TracesPage'),
  ),
  page(
    '/traces/$traceId',
    lazyRouteComponent(() => import('./pages/traces/trace-page.js'), 'TracePage'),
  ),
  page(
    '/workflows',
    lazyRouteComponent(() => import('./pages/workflows/workflows-page.js'), 'WorkflowsPage'),
  ),
  page(
    '/workflows/$workflowId',
    lazyRouteComponent(() => import('./pages/workflows/workflow-page.js'), 'WorkflowPage'),
  ),
  page(
    '/memory',
    lazyRouteComponent(() => import('./pages/memory/memory-page.js'), 'MemoryPage'),
  ),
  page(
    '/learnings',
    lazyRouteComponent(() => import('./pages/learnings/learnings-page.js'), 'LearningsPage'),
  ),
  page(
    '/knowledge',
    lazyRouteComponent(() => import('./pages/knowledge/knowledge-page.js'), 'KnowledgePage'),
  ),
  page(
    '/knowledge/$contentId',
    lazyRouteComponent(() => import('./pages/knowledge/content-page.js'), 'ContentPage'),
  ),
  page(
    '/evals',
    lazyRouteComponent(() => import('./pages/evals/evals-page.js'), 'EvalsPage'),
  ),
  page(
    '/evals/$evalId',
    lazyRouteComponent(() => import('./pages/evals/eval-page.js'), 'EvalPage'),
  ),
  page(
    '/datasets',
    lazyRouteComponent(() => import('./pages/evals/datasets/datasets-page.js'), 'DatasetsPage'),
  ),
  page(
    '/datasets/$datasetId',
    lazyRouteComponent(() => import('./pages/evals/datasets/dataset-page.js'), 'DatasetPage'),
  ),
  page(
    '/metrics',
    lazyRouteComponent(() => import('./pages/metrics/metrics-page.js'), 'MetricsPage'),
  ),
  page(
    '/schedules',
    lazyRouteComponent(() => import('./pages/schedules/schedules-page.js'), 'SchedulesPage'),
  ),
  page(
    '/schedules/$scheduleId',
    lazyRouteComponent(() => import('./pages/schedules/schedule-page.js'), 'SchedulePage'),
  ),
  page(
    '/approvals',
    lazyRouteComponent(() => import('./pages/approvals/approvals-page.js'), 'ApprovalsPage'),
  ),
  page(
    '/components',
    lazyRouteComponent(() => import('./pages/components/components-page.js'), 'ComponentsPage'),
  ),
  page(
    '/components/$componentId',
    lazyRouteComponent(() => import('./pages/components/component-page.js'), 'ComponentPage'),
  ),
  page(
    '/settings',
    lazyRouteComponent(() => import('./pages/settings/settings-page.js'), 'SettingsPage'),
  ),
]);

export const router = createRouter({
  routeTree,
  basepath: consoleBase,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text && `?${text}`;
  },
  defaultPreload: 'intent',
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

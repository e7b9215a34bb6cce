import { expectTypeOf, test } from 'vitest';
import type { AgentEvent, agent, TeamEvent, team, WorkflowEvent, workflow } from '../../index.js';
import type { Json } from '../json.js';
import type { RunEvent } from './run-event.js';
import type { StepIndex, StepOutput } from './workflow-event.js';

test('each component streams the events of its kind', () => {
  expectTypeOf<ReturnType<ReturnType<typeof agent>['stream']>>().toEqualTypeOf<
    AsyncGenerator<AgentEvent, void, void>
  >();
  expectTypeOf<ReturnType<ReturnType<typeof team>['stream']>>().toEqualTypeOf<
    AsyncGenerator<TeamEvent, void, void>
  >();
  expectTypeOf<ReturnType<ReturnType<typeof workflow>['stream']>>().toEqualTypeOf<
    AsyncGenerator<WorkflowEvent, void, void>
  >();
  expectTypeOf<AgentEvent>().toExtend<TeamEvent>();
  expectTypeOf<TeamEvent>().toExtend<WorkflowEvent>();
  expectTypeOf<TeamEvent>().not.toExtend<AgentEvent>();
});

test('the name of an event decides which fields it has', () => {
  const read = (event: WorkflowEvent) => {
    expectTypeOf(event.run_id).toBeString();
    switch (event.event) {
      case 'RunContent':
      case 'TeamRunContent':
        return expectTypeOf(event.content).toEqualTypeOf<Json>();
      case 'ToolCallStarted':
        expectTypeOf(event.agent_id).toBeString();
        return expectTypeOf(event.tool.tool_name).toBeString();
      case 'TeamToolCallError':
        expectTypeOf(event.team_id).toBeString();
        return expectTypeOf(event.error).toBeString();
      case 'StepCompleted':
        expectTypeOf(event.step_index).toEqualTypeOf<StepIndex>();
        return expectTypeOf(event.step_response).toEqualTypeOf<StepOutput>();
      case 'CustomEvent':
        return expectTypeOf(event.anything).toEqualTypeOf<Json | undefined>();
      // @ts-expect-error the events of tasks are those of a team
      case 'TaskCreated':
        return undefined;
      // @ts-expect-error a misspelt name
      case 'RunComplete':
        return undefined;
      case 'RunStarted':
        // @ts-expect-error another event has it
        return event.tool;
    }
    return undefined;
  };
  expectTypeOf(read).toBeFunction();
});

test('a switch over all names is exhaustive', () => {
  const read = (event: Extract<TeamEvent, { event: `TeamTask${string}` }>) => {
    switch (event.event) {
      case 'TeamTaskIterationStarted':
      case 'TeamTaskIterationCompleted':
        return event.iteration;
      case 'TeamTaskCreated':
      case 'TeamTaskUpdated':
        return event.title;
      case 'TeamTaskStateUpdated':
        return event.tasks.length;
      default:
        return event satisfies never;
    }
  };
  expectTypeOf(read).returns.toEqualTypeOf<number | string>();
});

test('a component cannot emit what is not in the tables', () => {
  const events: RunEvent[] = [
    { event: 'FollowupsCompleted', followups: ['And then?'] },
    { event: 'CustomEvent', progress: 0.5 },
    // @ts-expect-error a misspelt name
    { event: 'FollowupsComplete', followups: [] },
    // @ts-expect-error a missing field
    { event: 'FollowupsCompleted' },
    // @ts-expect-error a field of another type
    { event: 'FollowupsCompleted', followups: 'And then?' },
    // @ts-expect-error a field that the event does not have
    { event: 'RunContentCompleted', content: 'said' },
  ];
  expectTypeOf(events).toEqualTypeOf<RunEvent[]>();
});

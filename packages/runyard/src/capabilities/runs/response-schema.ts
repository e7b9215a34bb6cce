import { z } from 'zod';

const status = z.enum(['pending', 'running', 'completed', 'error', 'cancelled', 'paused', 'regenerated']);

/** The top of a run body. Further fields depend on what the run did. */
export const runBody = z
  .looseObject({
    run_id: z.string(),
    session_id: z.string(),
    user_id: z.string().nullable(),
    agent_id: z.string(),
    agent_name: z.string().optional(),
    status: z
      .union([status, z.string()])
      .meta({ description: 'Lower case; upper case only with the compatibility switch.' }),
    content: z.unknown().meta({
      description: 'The answer: a text, or an object when a schema was asked for. Empty until there is one.',
    }),
    content_type: z.string().optional(),
    created_at: z.union([z.iso.datetime(), z.int()]),
    model: z.string().optional(),
    model_provider: z.string().optional(),
    input: z.looseObject({ input_content: z.string() }),
    messages: z.array(z.looseObject({ id: z.string(), role: z.string() })).optional(),
    tools: z.array(z.looseObject({ tool_call_id: z.string(), tool_name: z.string() })).optional(),
    requirements: z
      .array(z.looseObject({ id: z.string(), created_at: z.string(), tool_execution: z.looseObject({}) }))
      .optional()
      .meta({ description: 'What the run waits for, and what it waited for.' }),
    forked_from_run_id: z.string().optional(),
    forked_from_message_index: z.int().optional(),
    forked_from_session_id: z.string().optional(),
    regenerated_from: z.string().optional(),
    last_checkpoint_at_message_index: z.int().optional(),
    error_type: z.string().optional().meta({ description: 'What went wrong, for status error.' }),
    error_id: z.string().optional(),
    additional_data: z.unknown().optional(),
    metrics: z.looseObject({}).optional(),
    session_state: z.looseObject({}).optional(),
    metadata: z.looseObject({}).optional(),
    events: z.array(z.looseObject({ event: z.string() })).optional(),
  })
  .meta({
    id: 'Run',
    description: 'A run of an agent.',
    examples: [
      {
        run_id: '019a8502-7f3e-7cc1-8d40-5a7b1a6f2c11',
        session_id: '019a8502-7f3e-7cc1-8d40-5a7b1a6f2c10',
        user_id: null,
        agent_id: 'assistant',
        status: 'completed',
        content: '17 * 25 = 425',
        created_at: '2026-11-15T09:30:00.000Z',
        input: { input_content: 'Calculate 17 * 25' },
      },
    ],
  });

export const startedRun = z
  .object({ run_id: z.string(), session_id: z.string(), status: z.string() })
  .meta({ id: 'StartedRun', description: 'A run that goes on in the background.' });

export const listedRun = z
  .looseObject({
    run_id: z.string(),
    parent_run_id: z.string(),
    agent_id: z.string(),
    user_id: z.string(),
    status: z.string(),
    run_input: z.string(),
    content: z.unknown(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'ListedRun', description: 'A run in a list.' });

export const emptyBody = z.object({}).meta({ id: 'Empty', description: 'Done.' });

const checkpoint = z
  .object({
    checkpoint_id: z.string().nullable(),
    run_id: z.string(),
    session_id: z.string(),
    message_index: z.int(),
    continue_from: z.int(),
    status: z.string(),
    reason: z.enum(['checkpoint', 'end', 'snapshot']),
    created_at: z.int(),
    message_id: z.string().nullable(),
    message_role: z.string().nullable(),
    message_preview: z.string().nullable(),
    is_latest: z.boolean(),
  })
  .meta({ id: 'Checkpoint', description: 'A place in the conversation from which a run can go on.' });

export const checkpointsBody = z
  .object({ run_id: z.string(), session_id: z.string(), checkpoints: z.array(checkpoint) })
  .meta({ id: 'Checkpoints', description: 'The checkpoints of a run, in the order of the conversation.' });

export const checkpointBody = z
  .object({ checkpoint, snapshot: runBody })
  .meta({ id: 'CheckpointSnapshot', description: 'A run as it was at a checkpoint.' });

export const forkedSessionBody = z
  .object({ session_id: z.string(), forked_from_session_id: z.string() })
  .meta({ id: 'ForkedSession', description: 'The copy of a session.' });

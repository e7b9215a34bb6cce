import { AgentFactory } from '../../../core/agents/agent-factory.js';
import { errors } from '../../../core/errors/errors.js';
import { newId } from '../../../core/ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { Executable } from '../../../core/runs/executable.js';
import type { CallApplication } from '../../../core/runs/execution/code-owner.js';
import type { FixedValues, RunOptions } from '../../../core/runs/run.js';
import { ownSession } from '../../../core/runs/run-request.js';
import { parseJson } from '../../../platform/http/request/json-text.js';
import type { RunSpace } from '../../capability.js';
import type { Component } from '../../components/service.js';
import type { CreateForm } from '../schema.js';

/** Whom a run is for, and what their token says. */
export interface RunCaller {
  readonly userId: string | null;
  /** Who asks for it, in whosever name. */
  readonly askers: readonly string[];
  readonly claims: JsonObject | null;
  readonly fixed: FixedValues | undefined;
}

export interface PreparedRun {
  readonly executable: Executable;
  readonly sessionId?: string;
  /** What must be kept to build the same agent again. */
  readonly factory?: Pick<RunOptions, 'factoryInput' | 'claims'>;
}

/** What executes a run: the component itself, or what a factory builds for this caller and this session. */
export async function preparedRun(
  component: Component,
  { runs }: RunSpace,
  { userId, claims }: Pick<RunCaller, 'userId' | 'claims'>,
  form: CreateForm,
  call: CallApplication,
): Promise<PreparedRun> {
  if (!(component instanceof AgentFactory)) return { executable: component, sessionId: form.session_id };
  const input = factoryInputOf(form.factory_input);
  const sessionId = form.session_id ?? newId();
  // only the state of a session of the user's own reaches the factory
  const session = form.session_id === undefined ? undefined : await ownSession(runs, sessionId, userId);
  const state = { ...session?.state, ...form.session_state };
  const executable = await component.build({ input, userId, claims, sessionId, state }, call);
  return { executable, sessionId, factory: { factoryInput: input, claims: claims ?? undefined } };
}

/** Reads the `factory_input` of a form. Only a factory asks for it. */
function factoryInputOf(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw errors.invalidFactoryInput(`factory_input is not JSON: ${reason}`);
  }
  if (!isJsonObject(value)) throw errors.invalidFactoryInput('factory_input must be a JSON object.');
  return value;
}

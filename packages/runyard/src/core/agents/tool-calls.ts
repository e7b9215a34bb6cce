import type { z } from 'zod';
import type { JsonObject } from '../json.js';
import { checkValue } from '../options/check-options.js';
import { instanceOf, listOf } from '../options/kinds.js';
import { jsonSchemaOf, type ValueSchema } from '../schemas/value-schema.js';
import { Tool } from '../tools/tool.js';
import type { ToolOutput } from '../tools/tool-options.js';
import type { ToolExecution } from './tool-executions.js';

/** A call that succeeded. Its `name` says which arguments and which result it has. */
export type ToolCallOf<Called extends Tool> =
  Called extends Tool<infer Name, infer Input, infer Output>
    ? {
        readonly name: Name;
        readonly callId: string;
        /** As the model gave them, or as a hook changed them. */
        readonly args: Input extends z.core.$ZodType ? z.input<Input> : JsonObject;
        /** Of a tool without an output schema the text that the model read. */
        readonly result: Output extends ValueSchema ? ToolOutput<Output> : string;
      }
    : never;

const toolList = listOf(instanceOf(Tool, 'what tool() made'));

/** The calls of these tools in a run that succeeded, typed by the name of the tool. */
export function toolCallsOf<const Tools extends readonly Tool[]>(
  output: { readonly tools: readonly ToolExecution[] },
  tools: Tools,
): ToolCallOf<Tools[number]>[] {
  checkValue('toolCallsOf()', 'tools', tools, toolList);
  const byName = new Map<string, Tool>(tools.map((one) => [one.name, one]));
  return output.tools.flatMap(({ name, callId, args, error, result, written }) => {
    const called = byName.get(name);
    if (called === undefined || error !== false || result === null) return [];
    const call = { name, callId, args, result: returnedValue(called.outputSchema, result, written) };
    // the name says which of the tools it is, and `returnedValue` checked its result
    return [call as ToolCallOf<Tools[number]>];
  });
}

/** The value that a tool returned. How a text from outside is meant, only the schema can say. */
function returnedValue(
  outputSchema: ValueSchema | undefined,
  text: string,
  written: ToolExecution['written'],
): unknown {
  if (outputSchema === undefined || written === 'text') return text;
  if (written === undefined && jsonSchemaOf(outputSchema).type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

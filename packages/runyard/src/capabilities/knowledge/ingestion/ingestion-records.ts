import { inputRecord, outputRecord } from '../../../core/runs/journal/codec.js';
import { flag, number, object, optional, type Shaped, text } from '../../../core/runs/journal/shapes.js';

const inputShape = object({
  knowledgeId: text,
  contentId: text,
  uploadId: optional(text),
  reembed: optional(flag),
});
const resultShape = object({ indexed: number, failed: number });

/** Which content a job indexes. What is to be indexed is said by its row, which names the job. */
export type IngestionInput = Shaped<typeof inputShape>;

/** How many contents were indexed: one, or the files of a folder. */
export type IngestionResult = Shaped<typeof resultShape>;

export const ingestionInput = inputRecord<IngestionInput>('ingestion', 1, inputShape);
export const ingestionResult = outputRecord<IngestionResult>('ingested', 1, resultShape);

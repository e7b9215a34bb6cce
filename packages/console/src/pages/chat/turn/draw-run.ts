import type { ReactNode } from 'react';
import type { RunView } from '../run/run-view.js';

/** Draws a run within another one. It is handed down, because runs within runs are drawn like those around them. */
export type DrawRun = (run: RunView) => ReactNode;

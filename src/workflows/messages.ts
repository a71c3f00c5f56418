// What may be said to a running workflow from outside.
import { defineSignal } from '@temporalio/workflow';

/** The row changed, or somebody wants it looked at now. It carries nothing: what is true stands in the row. */
export const rowChanged = defineSignal('row_changed');

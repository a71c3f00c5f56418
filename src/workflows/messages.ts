// What may be said to a running workflow from outside.
import { rawValueTypeInfo, type RawValue } from '@temporalio/common';
import { defineSignal } from '@temporalio/workflow';

/** More arguments than anybody sends by mistake. */
const MOST_ARGUMENTS = 16;

/**
 * Arguments stay encoded until somebody looks at them: one that can't be decoded would otherwise fail the workflow task, over and over
 * (engine fact 6), and anybody with access to the namespace can send one.
 */
const asTheyCome = {
  typeInfo: { inputTypes: Array.from({ length: MOST_ARGUMENTS }, () => rawValueTypeInfo) },
};

/** The row changed, or somebody wants it looked at now. It carries nothing: what is true stands in the row. */
export const rowChanged = defineSignal<RawValue[]>('row_changed', asTheyCome);

/** People have decided. The argument is a signed decision, or whatever somebody else has sent. */
export const approvalDecision = defineSignal<RawValue[]>('approval_decision', asTheyCome);

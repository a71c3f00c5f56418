// Entry of the workflow bundle.
export { executeOperation } from './execute-operation.workflow.ts';
export { reconcileOperation } from './reconcile-operation.workflow.ts';

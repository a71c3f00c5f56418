// Apart from the other workflow ids because workflow code needs it, and that can't load a hash.

/** Id of the workflow that finds out what became of a write. An account id holds no colon, so no key can name it. */
export function reconcileWorkflowIdFor(accountId: string, operationId: string): string {
  return `${accountId}:reconcile:${operationId}`;
}

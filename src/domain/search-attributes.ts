// What runs in Temporal can be searched by (contract §7), with their types as Temporal names them. Ids, kinds and states only: whoever may
// look into the namespace sees them.

export const SEARCH_ATTRIBUTES = {
  OperationKind: 'Keyword',
  OperationStatus: 'Keyword',
  AccountId: 'Keyword',
  Connection: 'Keyword',
  UnknownSince: 'Datetime',
} as const;

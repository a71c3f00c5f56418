// The search attributes as typed keys, for starting runs and for the runs themselves.
import { defineSearchAttributeKey } from '@temporalio/common';
import type { SEARCH_ATTRIBUTES } from '../domain/search-attributes.ts';

const keyword = (name: keyof typeof SEARCH_ATTRIBUTES) => defineSearchAttributeKey(name, 'KEYWORD');
const datetime = (name: keyof typeof SEARCH_ATTRIBUTES) =>
  defineSearchAttributeKey(name, 'DATETIME');

export const OPERATION_KIND = keyword('OperationKind');
export const OPERATION_STATUS = keyword('OperationStatus');
export const ACCOUNT_ID = keyword('AccountId');
export const CONNECTION = keyword('Connection');
export const UNKNOWN_SINCE = datetime('UnknownSince');

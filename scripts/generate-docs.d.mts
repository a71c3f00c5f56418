import type * as machine from '../src/domain/operation-state.ts';

export function renderStateMachine(
  states: typeof machine,
  describe: (state: machine.OperationState) => string,
): Promise<string>;

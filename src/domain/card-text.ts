// What a kind says on the card that a person decides by. The texts may hold what an agent wrote, so they are shown through
// `shown-text.ts` and never as they are.
import type { FrozenTarget } from './execution-plan.ts';
import type { Money } from './money.ts';

interface CardText {
  /** One sentence: what will be done, with the parameters that matter. */
  readonly title: string;
  /** What follows outside once it is done. */
  readonly consequence: string;
  /** Whether and how it can be undone. */
  readonly reversibility: string;
  /** What it acts on, in the provider's or the agent's names. */
  readonly target?: string;
  readonly money?: Money;
}

/** The card's text of a canonical command; `target` is the earlier operation as frozen at the claim. */
export type CardTextOf<Command> = (command: Command, target: FrozenTarget | null) => CardText;

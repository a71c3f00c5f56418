// How two operations belong together, seen from one of them.

/** What the register says: who acts on whom. */
export type StoredRelation = 'acted_on_by' | 'acts_on' | 'conflicts_with' | 'reused_by';

export type Relation = StoredRelation | 'compensation' | 'compensates';

/** The relation by the name that says more, where the operation that acts undoes what the other did. */
export function relationOf(stored: StoredRelation, actorCompensates: boolean): Relation {
  if (!actorCompensates) return stored;
  if (stored === 'acted_on_by') return 'compensation';
  return stored === 'acts_on' ? 'compensates' : stored;
}

// The signing keys of the embedded default, so that a fresh installation can approve and seal at once. Others bring their own.
import { ensureKeyPair, type KeyPlaces } from '../signing/keys.ts';

/** Makes the pairs that are missing; what is there is kept. */
export function ensureSigningKeys(places: Readonly<Record<'desk' | 'audit', KeyPlaces>>): void {
  ensureKeyPair(places.desk);
  ensureKeyPair(places.audit);
}

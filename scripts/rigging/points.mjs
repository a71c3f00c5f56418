// Arming of crash points: a file that one process takes away when it reaches the point.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NotOffered } from './place.mjs';

/** Points by other names: storing a result begins when the provider has answered. */
const ALSO = { store_result: 'after_provider_commit', commit_of_claim: undefined };

/** The next process that reaches the point suffers the fault. Throws `NotOffered` for a point that nobody has. */
export async function arm(place, at, fault) {
  const { CRASH_POINTS } = await import('../../dist/rig/crash-points.js');
  const point = at in ALSO ? ALSO[at] : at;
  if (!CRASH_POINTS.includes(point)) throw new NotOffered(`a fault at ${at}`);
  leave(place, point, fault);
}

/** The answer to the commit of the next claim is lost. */
export function armLostCommit(place) {
  leave(place, 'commit_of_claim', { do: 'drop' });
}

/** Written aside first: a point that can be seen is complete. */
function leave(place, point, fault) {
  mkdirSync(place.pointsFolder, { recursive: true, mode: 0o700 });
  const path = place.points(point);
  writeFileSync(`${path}.new`, JSON.stringify(fault));
  renameSync(`${path}.new`, path);
}

/** Points that nobody has reached yet. */
export function armed(place) {
  if (!existsSync(place.pointsFolder)) return [];
  return readdirSync(place.pointsFolder).filter((name) => !name.includes('.'));
}

export function disarm(place) {
  for (const name of armed(place)) rmSync(join(place.pointsFolder, name), { force: true });
}

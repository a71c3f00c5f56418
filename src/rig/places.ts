// Where the rig's notes lie, below one copy's home. None of it exists unless HOLDFAST_RIG is set.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The supervisor's control channel: a socket that only this machine's user reaches. */
export const channelPath = (home: string): string => join(home, 'run', 'rig.sock');

/** An armed point is a file of its name; the process that takes the file acts. */
export const pointPath = (home: string, point: string): string =>
  join(home, 'run', 'rig', 'points', point);

/** Exists while an API (1: the supervisor's own, 2: one started beside it) is parted from Postgres. */
export const partitionPath = (home: string, instance: number): string =>
  join(home, 'run', 'rig', `partition-${instance}`);

/** Written by the API once its connections are cut. */
export const partedPath = (home: string, instance: number): string =>
  `${partitionPath(home, instance)}.cut`;

/** Holds the pid of a process that stopped itself at a point. */
export const pausedPath = (home: string): string => join(home, 'run', 'rig', 'paused');

/** Creates the folders; closed to others, whoever can write there can end our processes. */
export function createPlaces(home: string): void {
  mkdirSync(join(home, 'run', 'rig', 'points'), { recursive: true, mode: 0o700 });
}

// Crash points: armed by a file, met once.
import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { watchCrashPoints } from '../../src/rig/crash-points.ts';
import { createPlaces, pausedPath, pointPath } from '../../src/rig/places.ts';
import { spawnLogged, ended } from '../../src/supervisor/spawn-logged.ts';
import { eventually, scriptSpec, temporaryHome } from './temporary-home.ts';

function armedHome(point: string, fault: unknown): string {
  const home = temporaryHome();
  createPlaces(home);
  writeFileSync(pointPath(home, point), JSON.stringify(fault));
  return home;
}

const MODULE = new URL('../../dist/rig/crash-points.js', import.meta.url).href;
const reaches = (home: string, point: string): string =>
  `import(${JSON.stringify(MODULE)}).then(({ watchCrashPoints }) => {
    watchCrashPoints(${JSON.stringify(home)}).reach(${JSON.stringify(point)});
    process.exit(7);
  })`;

test('a point that nobody armed does nothing', () => {
  const home = armedHome('before_claim', { do: 'throw' });
  expect(watchCrashPoints(home).reach('after_record_insert')).toBeUndefined();
  expect(existsSync(pointPath(home, 'before_claim'))).toBe(true);
});

test('an armed point is met by one process, once', () => {
  const home = armedHome('before_claim', { do: 'throw' });
  const [one, other] = [watchCrashPoints(home), watchCrashPoints(home)];
  expect(() => one.reach('before_claim')).toThrow('before_claim');
  expect(other.reach('before_claim')).toBeUndefined();
  expect(one.reach('before_claim')).toBeUndefined();
});

test('a process that meets its end gets no further', async () => {
  const home = armedHome('before_start', { do: 'kill' });
  const child = spawnLogged(scriptSpec('child', reaches(home, 'before_start')), home);
  expect(await ended(child)).toBe('SIGKILL');
});

test('a process that is paused goes on when it is told to', async () => {
  const home = armedHome('before_provider_call', { do: 'pause' });
  const child = spawnLogged(scriptSpec('child', reaches(home, 'before_provider_call')), home);
  const end = ended(child);
  await eventually(() => (existsSync(pausedPath(home)) ? true : undefined));
  expect(child.exitCode).toBeNull();
  child.kill('SIGCONT');
  expect(await end).toBe('exit code 7');
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  claimHome,
  HomeInUseError,
  noteProcess,
  runningProcess,
} from '../../src/supervisor/home.ts';
import { processIdentity } from '../../src/supervisor/process-identity.ts';
import { temporaryHome } from './temporary-home.ts';

const claimFile = (home: string): string => join(home, 'run', 'supervisor.json');

test('refuses a home that a running process has claimed, naming the process', () => {
  const home = temporaryHome();
  const release = claimHome(home);
  expect(() => claimHome(home)).toThrow(HomeInUseError);
  expect(() => claimHome(home)).toThrow(`process ${process.pid}`);
  release();
  claimHome(home)();
});

test('takes over the claim of a process that no longer runs', () => {
  const home = temporaryHome();
  writeFileSync(
    claimFile(home),
    JSON.stringify({ pid: process.pid, identity: 'an earlier process' }),
  );
  claimHome(home)();
});

test('takes over a claim that was only half written', () => {
  const home = temporaryHome();
  writeFileSync(claimFile(home), '{"pid":');
  claimHome(home)();
});

test('does not mistake another process with the same pid for a noted one', () => {
  const home = temporaryHome();
  noteProcess(home, 'child', process.pid);
  expect(runningProcess(home, 'child')?.pid).toBe(process.pid);
  const reused = { pid: process.pid, identity: 'an earlier process' };
  writeFileSync(join(home, 'run', 'child.json'), JSON.stringify(reused));
  expect(runningProcess(home, 'child')).toBeUndefined();
});

test('knows no identity for a process that does not run', () => {
  expect(processIdentity(process.pid)).toBe(processIdentity(process.pid));
  expect(processIdentity(2 ** 22 + 1)).toBeUndefined();
});

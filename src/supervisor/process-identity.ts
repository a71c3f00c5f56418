// Tells a process from a later one that was given the same pid: a pid alone is never enough to kill somebody.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What stays the same for a process's whole life and differs from any other process's; undefined once it has ended. */
export function processIdentity(pid: number): string | undefined {
  return process.platform === 'linux' ? identityFromProc(pid) : identityFromPs(pid);
}

/** True while the process that had this identity is running (a zombie has ended). */
export function isSameProcess(pid: number, identity: string): boolean {
  return processIdentity(pid) === identity;
}

/** Small Linux images have no ps, so the kernel is asked directly: boot and the clock tick of the start. */
function identityFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold blanks; state is the first field after it, start time the twentieth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

function identityFromPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
  });
  const [state, ...started] = (stdout ?? '').trim().split(/\s+/);
  if (state === undefined || state === '' || state.startsWith('Z')) return undefined;
  return started.join(' ');
}

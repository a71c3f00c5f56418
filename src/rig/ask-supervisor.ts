// The client's side of the rig's channel: one question, one answer, each a line of JSON.
import { connect } from 'node:net';
import { channelPath } from './places.ts';

/** What the supervisor does when asked. Names are those of its processes: postgres, temporal, sandbox, worker, api. */
export type SupervisorRequest =
  | { readonly do: 'stop' | 'start' | 'kill'; readonly names: readonly string[] }
  | { readonly do: 'start_spare_worker' | 'stop_spare_worker' }
  | { readonly do: 'outage'; readonly names: readonly string[]; readonly for_ms: number };

/** Resolves when it is done; rejects with the supervisor's sentence, or where no channel is served. */
export function askSupervisor(home: string, request: SupervisorRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(channelPath(home));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (answer += chunk));
    socket.once('error', reject);
    socket.once('end', () => {
      if (answer.trim() === 'done') resolve();
      else reject(new Error(answer.trim() || 'the supervisor gave no answer'));
    });
    socket.write(`${JSON.stringify(request)}\n`);
  });
}

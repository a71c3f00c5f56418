// A port that is taken is named by its variable before anything starts, not by a stack trace from the child that met it.
import type { Config } from '../config.ts';
import { isFree } from './probes.ts';

/** The ports that this copy will listen on, by the variable that changes them. */
export function portsToUse(config: Config): ReadonlyMap<string, number> {
  const { ports } = config;
  const used: [string, number][] = [
    ['PORT', ports.api],
    ['SANDBOX_PORT', ports.sandbox],
    ['SANDBOX_ADMIN_PORT', ports.sandboxAdmin],
    ['METRICS_PORT', ports.metrics],
  ];
  if (ports.apiMetrics !== undefined) used.push(['API_METRICS_PORT', ports.apiMetrics]);
  if (config.temporal.embedded) {
    used.push(['TEMPORAL_PORT', ports.temporal], ['TEMPORAL_UI_PORT', ports.temporalUi]);
  }
  if (config.postgres.embedded) used.push(['POSTGRES_PORT', ports.postgres]);
  return new Map(used);
}

/** One sentence per port that can't be had; empty when all can. */
export async function portProblems(config: Config): Promise<string[]> {
  const problems: string[] = [];
  const seen = new Map<number, string>();
  for (const [variable, port] of portsToUse(config)) {
    const other = seen.get(port);
    if (other !== undefined)
      problems.push(`${variable} and ${other} are both ${port}: give each its own port.`);
    else if (!(await isFree(port))) {
      problems.push(
        `${variable} ${port} is taken on 127.0.0.1: free it, or set ${variable} to another port.`,
      );
    }
    seen.set(port, variable);
  }
  return problems;
}

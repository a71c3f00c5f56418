// Gives a suite the run's Temporal server; see shared-servers.ts.
import type { TestProject } from 'vitest/node';
import { useServer } from './shared-servers.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { address, release } = await useServer('temporal');
  project.provide('temporalAddress', address);
  return release;
}

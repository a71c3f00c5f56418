// What a PromQL expression asks for, by Prometheus' own grammar.
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { Registry } from 'prom-client';
import {
  createApiMetrics,
  createRegisterGauges,
  createWorkerMetrics,
  showPolicy,
} from '../../src/observability/metrics.ts';

/** Set by Prometheus for every series, or by us for those of several processes on one port. */
const TARGET_LABELS = ['job', 'instance', 'process'];

/** The series that we offer, each with its labels; of a histogram those that a query can name. */
export async function offeredSeries(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const gauges = new Registry();
  createRegisterGauges(gauges);
  showPolicy(gauges, () => true);
  const registries = [createApiMetrics().registry, createWorkerMetrics().registry, gauges];
  const metrics = registries.flatMap((registry) => registry.getMetricsAsArray());
  const series = metrics.flatMap((metric) => {
    // prom-client keeps the labels of a metric to itself.
    const { labelNames = [] } = metric as { labelNames?: readonly string[] };
    const labels = [...labelNames, ...TARGET_LABELS];
    const { name } = metric;
    if (!('buckets' in metric)) return [[name, new Set(labels)] as const];
    return [
      [`${name}_bucket`, new Set([...labels, 'le'])] as const,
      [`${name}_sum`, new Set(labels)] as const,
      [`${name}_count`, new Set(labels)] as const,
    ];
  });
  return new Map([...series, ['up', new Set(TARGET_LABELS)]]);
}

/** What is wrong with an expression, as sentences: syntax, and names that nobody offers. */
export function problemsOf(
  expression: string,
  offered: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  // What Grafana fills in is a duration.
  const text = expression.replaceAll(/\$__\w+/g, '5m');
  const problems: string[] = [];
  const known = new Set<string>();
  const grouped: string[] = [];
  const read = ({ from, to }: SyntaxNode) => text.slice(from, to);
  parser.parse(text).iterate({
    enter({ type, node }) {
      if (type.isError) problems.push(`syntax at ${node.from} of ${text}`);
      if (type.name === 'VectorSelector') {
        const name = read(node.getChild('Identifier') ?? node);
        const labels = offered.get(name);
        if (!labels) problems.push(`nobody offers ${name}`);
        for (const label of labels ?? []) known.add(label);
        for (const label of labelsIn(node).map(read)) {
          if (labels && !labels.has(label)) problems.push(`${name} has no label ${label}`);
        }
      }
      if (type.name === 'GroupingLabels') grouped.push(...labelsIn(node).map(read));
    },
  });
  return [
    ...problems,
    ...grouped.filter((label) => !known.has(label)).map((label) => `grouped by ${label}`),
  ];
}

/** Names of the series that an expression asks for. */
export function seriesIn(expression: string): string[] {
  return [...expression.matchAll(/holdfast_\w+/g)].map(([name]) => name);
}

function labelsIn(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  node.cursor().iterate(({ type, node: inner }) => {
    if (inner.from < node.from || inner.to > node.to) return false;
    if (type.name === 'LabelName') found.push(inner);
    return true;
  });
  return found;
}

import { describe, expect, it } from 'vitest';
import { textOf, yamlOf, type Compose } from '../support/compose.ts';
import { offeredSeries, problemsOf, seriesIn } from '../support/promql.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

const { groups } = yamlOf('deploy/prometheus/alerts.yml') as {
  groups: readonly { readonly rules: readonly Rule[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(textOf('deploy/grafana/dashboards/holdfast.json')) as {
  panels: readonly Panel[];
};
const drawn = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

const offered = await offeredSeries();

describe('the check of expressions', () => {
  it.each([
    ['a name that nobody offers', 'rate(holdfast_submit_total[5m])', /nobody offers/],
    ['a histogram without its suffix', 'holdfast_operation_retries', /nobody offers/],
    ['a label that it has not', 'holdfast_open_operations{account="a"}', /no label account/],
    ['a group by a label that it has not', 'sum by (code) (holdfast_open_operations)', /by code/],
    ['syntax', 'sum(holdfast_open_operations', /syntax/],
  ])('finds %s', (_, expression, problem) => {
    expect(problemsOf(expression, offered).join()).toMatch(problem);
  });

  it('knows labels of Prometheus’ own, and durations of Grafana’s', () => {
    const expression = 'sum by (instance) (rate(holdfast_submits_total[$__rate_interval]))';
    expect(problemsOf(expression, offered)).toEqual([]);
  });
});

describe('every alert', () => {
  it.each(alerts)('$alert asks for series that there are', ({ expr }) => {
    expect(problemsOf(expr, offered)).toEqual([]);
  });

  it.each(alerts)('$alert compares with something, and says what it means', (rule) => {
    expect(rule.expr).toMatch(/(==|>|<) [\d.]+$/);
    expect(rule.annotations.summary).toMatch(/[.?]$/);
  });

  it.each(alerts)('$alert never adds up what each worker shows of the register', ({ expr }) => {
    expect(expr).not.toMatch(
      /sum[^(]*\((?!max)[^)]*holdfast_(open|oldest|operations|outbox|sweep|retention|audit)/,
    );
  });
});

describe('the alerts together', () => {
  it.each(['holdfast_approvals_unproved_total', 'holdfast_audit_chains_broken'])(
    'wake somebody at once where %s says that somebody wrote into the database',
    (metric) => {
      const asking = alerts.filter(({ expr }) => expr.includes(metric));
      expect(asking.map(({ labels, for: after }) => [labels.severity, after])).toEqual([
        ['page', '0m'],
      ]);
    },
  );
});

describe('the dashboard', () => {
  it.each(drawn)('asks for series that there are: $title', ({ expr }) => {
    expect(problemsOf(expr, offered)).toEqual([]);
  });

  it('shows every metric', () => {
    const shown = new Set(drawn.flatMap(({ expr }) => seriesIn(expr)));
    const families = [...offered.keys()]
      .filter((name) => name.startsWith('holdfast_'))
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    for (const family of new Set(families)) {
      expect(
        [...shown].some((name) => name.startsWith(family)),
        family,
      ).toBe(true);
    }
  });
});

describe('metrics that documents name', () => {
  it.each(['docs/runbook.md'])('exist: %s', (path) => {
    const families = [...offered.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    const named = seriesIn(textOf(path)).filter((name) => name !== 'holdfast_now');
    expect(named.length).toBeGreaterThan(5);
    for (const name of named) {
      expect(offered.has(name) || families.includes(name), name).toBe(true);
    }
  });
});

describe('what Prometheus scrapes', () => {
  const { scrape_configs: jobs } = yamlOf('deploy/prometheus/prometheus.yml') as {
    scrape_configs: readonly {
      readonly job_name: string;
      readonly dns_sd_configs?: readonly { readonly names: readonly string[]; port: number }[];
      readonly static_configs?: readonly { readonly targets: readonly string[] }[];
    }[];
  };
  const { services } = yamlOf('docker-compose.yml') as Compose;
  const targets = jobs.flatMap(({ dns_sd_configs = [], static_configs = [] }) => [
    ...dns_sd_configs.flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)),
    ...static_configs.flatMap((one) => one.targets),
  ]);

  it('are services in its network, at the ports where they show their metrics', () => {
    expect(targets).toEqual(['api:9464', 'worker:9464', 'temporal:9090']);
    for (const target of targets) {
      const { networks = [] } = services[target.split(':')[0] ?? ''] ?? {};
      expect(networks).toContain('default');
    }
  });

  it('has the job names that the alerts ask for', () => {
    const asked = alerts.flatMap(({ expr }) => /job=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? []);
    expect(asked.length).toBeGreaterThan(0);
    expect(jobs.map(({ job_name: name }) => name)).toEqual(expect.arrayContaining(asked));
  });
});

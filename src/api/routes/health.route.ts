// Is the process alive, and can it do its work?
import { Router, type Response } from 'express';
import type { ApiDependencies } from '../dependencies.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';

/** Ready means that claims can be written. Without Temporal it is `degraded`, and still ready once it has been started. */
export function healthRoute({ pool, engineAnswers, policyIsFresh }: ApiDependencies): Router {
  let started = false;
  const router = Router();
  router
    .route('/healthz')
    .get((_request, response) => {
      response.json({ status: 'ok' });
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/readyz')
    .get(async (_request, response: Response) => {
      const [postgres, temporal] = await Promise.all([
        pool.query('select 1 from installation').then(
          () => true,
          () => false,
        ),
        engineAnswers(),
      ]);
      started ||= postgres && temporal;
      const status = postgres && temporal ? 'ok' : postgres && started ? 'degraded' : 'unavailable';
      const policy = policyIsFresh();
      const code = status === 'unavailable' ? 503 : 200;
      response.status(code).json({ status, postgres, temporal, policy });
    })
    .all(methodNotAllowed('GET'));
  return router;
}

// The API's document, and a page over it. The page loads nothing from elsewhere and its policy lets it load nothing from elsewhere.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from 'express';
import { HoldfastError } from '../../domain/operation-error.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { openApiDocument } from '../openapi/document.ts';

const FOLDER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** Of the package only these are served. */
const PACKAGED = ['swagger-ui.css', 'swagger-ui-bundle.js'];

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Icons of the page are data in its style sheet.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Holdfast API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`;

/** No validator badge: it would send the document's address to its maker. Credentials are not kept in the browser. */
const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
});
`;

export function documentationRoute(): Router {
  const document = JSON.stringify(openApiDocument());
  const router = Router({ caseSensitive: true });
  router
    .route('/openapi.json')
    .get((_request, response) => {
      response.type('application/json').send(document);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/docs')
    .get((_request, response) => {
      response.set({ 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' });
      response.type('html').send(PAGE);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/docs/:file')
    .get((request, response) => {
      const name = request.params['file'];
      response.set('X-Content-Type-Options', 'nosniff');
      if (name === 'start.js') response.type('text/javascript').send(START);
      else if (PACKAGED.includes(name)) response.sendFile(name, { root: FOLDER });
      else throw new HoldfastError('not_found', 'There is nothing at this path.');
    })
    .all(methodNotAllowed('GET'));
  return router;
}

// Writes docs/openapi.json from the compiled declarations of the routes. A test fails while the committed copy differs from them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { build } from './build.mjs';
import { projectFolder } from './setup/files.mjs';

await build();
const { openApiDocument } = await import('../dist/api/openapi/document.js');
const file = join(projectFolder, 'docs', 'openapi.json');
const text = await format(JSON.stringify(openApiDocument()), { parser: 'json', printWidth: 100 });
writeFileSync(file, text);
process.stdout.write(`${file}\n`);

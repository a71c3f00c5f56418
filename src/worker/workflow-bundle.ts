// The pre-built workflow bundle, checked before a worker uses it: one of another SDK version fails in the middle of a workflow.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

interface BundleFacts {
  readonly sdkVersion: string;
  readonly sha256: string;
}

/** Path of the bundle that `npm run build` left beside the compiled code; throws with a sentence where it doesn't fit. */
export async function checkedBundlePath(folder: URL): Promise<string> {
  const path = fileURLToPath(new URL('workflow-bundle.js', folder));
  const facts = JSON.parse(
    await readFile(new URL('workflow-bundle.json', folder), 'utf8'),
  ) as BundleFacts;
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  if (sha256 !== facts.sha256) throw new Error('the workflow bundle is not the one that was built');
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as {
    version: string;
  };
  if (version !== facts.sdkVersion) {
    throw new Error(`the workflow bundle was built with SDK ${facts.sdkVersion}, not ${version}`);
  }
  return path;
}

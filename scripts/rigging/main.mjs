// Carries out one control on a running `npm start` that was started with HOLDFAST_RIG=1 and this same environment.
import { CONTROLS } from './controls.mjs';
import { NotOffered, place } from './place.mjs';

try {
  const wanted = JSON.parse(process.argv[2] ?? '');
  const work = CONTROLS[wanted.control]?.[wanted.do];
  if (!work) throw new NotOffered(`${wanted.control} ${wanted.do}`);
  await work(await place(), wanted);
  process.exit(0);
} catch (error) {
  process.stderr.write(`rig: ${error.message}\n`);
  process.exit(error instanceof NotOffered ? 3 : 1);
}

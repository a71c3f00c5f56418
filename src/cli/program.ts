// The command line: one file a group of commands, each added here.
import { Command } from 'commander';
import { addAuditCommands } from './audit.ts';
import type { CliContext } from './context.ts';
import { addEvidenceCommands } from './evidence.ts';

export function createProgram(context: CliContext): Command {
  const program = new Command('holdfast')
    .description(
      'Holdfast from the command line. HOLDFAST_URL and HOLDFAST_API_KEY say where and who.',
    )
    .showHelpAfterError()
    .exitOverride();
  addAuditCommands(program, context);
  addEvidenceCommands(program, context);
  return program;
}

// What every command works with; given once by the composition root.

export interface CliContext {
  /** Base URL of the API, without a slash at its end. */
  readonly url: string;
  readonly apiKey: string | undefined;
  /** Where public keys of the audit are looked for, in this order, when none are named. */
  readonly publicKeyFolders: readonly string[];
  /** The same for those of the approval desk. */
  readonly deskKeyFolders: readonly string[];
  /** Writes a line for programs and people. */
  readonly say: (line: string) => void;
  /** Writes a line for people only. */
  readonly warn: (line: string) => void;
}

/** Why a command could not be done; the message is for people. What was done and found wrong is no error of this kind. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

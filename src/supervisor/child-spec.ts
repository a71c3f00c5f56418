// What the supervisor knows about a process that it starts.

/** A user of the operating system, by number. */
export interface OsUser {
  readonly uid: number;
  readonly gid: number;
}

/** How a process is started. */
export interface Command {
  /** Names the log, the pid note and the process on the screen. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Undefined: the supervisor's own environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** Undefined: the supervisor's own folder. */
  readonly cwd?: string;
  /** Undefined: the supervisor's own user. */
  readonly user?: OsUser | undefined;
  /** Opens an IPC channel, so that the child notices when the supervisor is gone. */
  readonly followsParent: boolean;
}

/** A process that is kept running: how it is recognised as ready, and how it is stopped. */
export interface ChildSpec extends Command {
  readonly isReady: (pid: number) => Promise<boolean>;
  readonly stopSignal: NodeJS.Signals;
  /** For a person who doesn't want to wait, and for a child that exceeds `stopWithinMs`. */
  readonly hurrySignal: NodeJS.Signals;
  /** How long a stop may take before the hurry signal is sent. */
  readonly stopWithinMs: number;
}

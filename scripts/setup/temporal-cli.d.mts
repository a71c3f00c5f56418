/** Absolute path of a usable Temporal CLI; downloads one when the machine has none. */
export function findTemporalCli(env?: NodeJS.ProcessEnv): Promise<string>;

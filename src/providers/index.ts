// All adapters, by hand: adding one is one line here.
import type { ProviderAdapter } from './provider.ts';
import { sandboxProvider } from './sandbox/sandbox.provider.ts';

export const adapters: readonly ProviderAdapter[] = [sandboxProvider];

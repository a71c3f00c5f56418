// An approval desk of the tests' own, and one that nobody knows.
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import type { DecisionSigner, DecisionVerifier } from '../../src/domain/approval-decision.ts';
import { keyIdOf } from '../../src/signing/keys.ts';
import type { FirstIntentChecks } from '../../src/store/first-intent.store.ts';

export interface TestDesk {
  readonly signer: DecisionSigner;
  readonly verifier: DecisionVerifier;
}

/** A desk with a fresh key. */
export function createDesk(): TestDesk {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const kid = keyIdOf(publicKey);
  return {
    signer: {
      kid,
      sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
    },
    verifier: {
      verify: (of, text, signature) =>
        of === kid &&
        verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url')),
    },
  };
}

export const DESK = createDesk();

/** A first intent for which nothing has changed since the claim. */
export const UNCHANGED: FirstIntentChecks = {
  desk: DESK.verifier,
  reading: {
    verdict: {
      verdict: 'allow',
      rules: ['a-test'],
      reasons: ['a test'],
      policyVersion: 'unchanged',
    },
    preconditions: undefined,
    isFresh: () => true,
    lastTry: false,
    approvalId: 'apr_not_needed',
  },
};

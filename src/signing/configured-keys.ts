// Keys where the configuration says that they are; a process that lacks them stops with a sentence that names the variable.
import {
  readSigningKey,
  readVerifier,
  type KeyPlaces,
  type SigningKey,
  type Verifier,
} from './keys.ts';

const VARIABLES = {
  desk: { privateKey: 'DESK_KEY_FILE', publicKeys: 'DESK_PUBLIC_KEYS' },
  audit: { privateKey: 'AUDIT_KEY_FILE', publicKeys: 'AUDIT_PUBLIC_KEYS' },
} as const;

type Purpose = keyof typeof VARIABLES;

/** The private key of a purpose; throws where there is none. */
export function signingKeyOf(purpose: Purpose, { privateKeyFile }: KeyPlaces): SigningKey {
  return orSay(`${VARIABLES[purpose].privateKey}: no private key can be read`, () =>
    readSigningKey(privateKeyFile),
  );
}

/** The public keys of a purpose; throws where there is not one: nothing could ever be believed. */
export function verifierOf(purpose: Purpose, { publicKeyFolder }: KeyPlaces): Verifier {
  return orSay(`${VARIABLES[purpose].publicKeys}: no public key can be read`, () => {
    const verifier = readVerifier(publicKeyFolder);
    if (verifier.publicKeys.size === 0) throw new Error(`${publicKeyFolder} holds no .pem file`);
    return verifier;
  });
}

function orSay<T>(sentence: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`configuration: ${sentence}: ${reason}`, { cause: error });
  }
}

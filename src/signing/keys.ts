// Ed25519 keys (RFC 8032) of those whose word is checked later: the approval desk, and the sealer of the audit. A private key lies in one
// file that only its owner reads. Its public half lies in a folder, named by its id, and stays there after a rotation, so that old
// signatures can still be checked. Neither is ever in the database.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign as signBytes,
  verify as verifyBytes,
  type KeyObject,
} from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Where a purpose's keys lie. */
export interface KeyPlaces {
  /** PKCS #8 PEM, mode 0600. */
  readonly privateKeyFile: string;
  /** SPKI PEM files, one a key, named `<kid>.pem`. */
  readonly publicKeyFolder: string;
}

export interface SigningKey {
  readonly kid: string;
  /** The signature over the UTF-8 bytes of `text`, base64url. */
  sign(text: string): string;
}

/** Checks signatures by any of its keys; an unknown key id or a malformed signature is false, never an error. */
export interface Verifier {
  verify(kid: string, text: string, signature: string): boolean;
  /** SPKI PEM by key id. */
  readonly publicKeys: ReadonlyMap<string, string>;
}

/** The first 16 hexadecimal digits of SHA-256 over the SPKI form: short enough to read aloud, and the same everywhere. */
export function keyIdOf(publicKey: KeyObject): string {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex').slice(0, 16);
}

/** Makes a pair where none is yet, and publishes the public half. Answers the key in use. */
export function ensureKeyPair(places: KeyPlaces): SigningKey {
  if (!existsSync(places.privateKeyFile)) writePair(places);
  return readSigningKey(places.privateKeyFile);
}

function writePair({ privateKeyFile, publicKeyFolder }: KeyPlaces): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  mkdirSync(publicKeyFolder, { recursive: true });
  mkdirSync(dirname(privateKeyFile), { recursive: true, mode: 0o700 });
  // The public half first: a signature that nobody can check would be worth nothing.
  const spki = publicKey.export({ type: 'spki', format: 'pem' });
  writeFileSync(join(publicKeyFolder, `${keyIdOf(publicKey)}.pem`), spki);
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(privateKeyFile, pkcs8, { mode: 0o600, flag: 'wx' });
  chmodSync(privateKeyFile, 0o600);
}

/** Throws with a sentence where the file can't be read or holds no Ed25519 private key. */
export function readSigningKey(privateKeyFile: string): SigningKey {
  const privateKey = createPrivateKey(readFileSync(privateKeyFile));
  if (privateKey.asymmetricKeyType !== 'ed25519') {
    throw new Error(`${privateKeyFile} holds no Ed25519 key`);
  }
  return {
    kid: keyIdOf(createPublicKey(privateKey)),
    sign: (text) => signBytes(null, Buffer.from(text), privateKey).toString('base64url'),
  };
}

/** Reads every `.pem` of the folder. The id is taken from the key, not from the file's name. */
export function readVerifier(publicKeyFolder: string): Verifier {
  const files = readdirSync(publicKeyFolder).filter((name) => name.endsWith('.pem'));
  const keys = new Map(
    files.map((name) => {
      const key = createPublicKey(readFileSync(join(publicKeyFolder, name)));
      return [keyIdOf(key), key];
    }),
  );
  return {
    verify(kid, text, signature) {
      const key = keys.get(kid);
      const bytes = signatureBytes(signature);
      if (!bytes || key?.asymmetricKeyType !== 'ed25519') return false;
      return verifyBytes(null, Buffer.from(text), key, bytes);
    },
    publicKeys: new Map(
      [...keys].map(([kid, key]) => [kid, String(key.export({ type: 'spki', format: 'pem' }))]),
    ),
  };
}

const SIGNATURE_BYTES = 64;

/** A signature has one spelling, base64url without padding and without bits that mean nothing; every other one is none. */
function signatureBytes(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const isSpelled = bytes.length === SIGNATURE_BYTES && bytes.toString('base64url') === text;
  return isSpelled ? bytes : undefined;
}

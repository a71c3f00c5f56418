// What a fault is meant for. Every setting of the admin side names a kind and, optionally, texts that a request must hold.

/** A kind, and texts of which a request must hold one; without texts everything of that kind is meant. */
export interface Aim {
  readonly kind: string;
  readonly match?: readonly string[] | undefined;
}

/** True where one of the texts of a request (body, token, operation id, …) holds one of the aim's texts. */
export function concerns(aim: Aim, kind: string, texts: readonly string[]): boolean {
  if (aim.kind !== kind) return false;
  if (aim.match === undefined) return true;
  return aim.match.some((wanted) => texts.some((text) => text.includes(wanted)));
}

const nameOf = (aim: Aim) => JSON.stringify([aim.kind, aim.match?.toSorted() ?? null]);

/** Settings by aim. A new one replaces that of the same aim and comes before all others. */
export class Aimed<T> {
  #entries: { readonly aim: Aim; readonly value: T }[] = [];

  /** Puts a setting in front of all others. */
  set(aim: Aim, value: T): void {
    const others = this.#entries.filter((entry) => nameOf(entry.aim) !== nameOf(aim));
    this.#entries = [{ aim, value }, ...others];
  }

  /** What is set for such a request, the newest first. */
  all(kind: string, texts: readonly string[]): T[] {
    return this.#entries
      .filter((entry) => concerns(entry.aim, kind, texts))
      .map((entry) => entry.value);
  }

  /** The newest setting for such a request. */
  newest(kind: string, texts: readonly string[]): T | undefined {
    return this.all(kind, texts)[0];
  }

  /** Forgets every setting. */
  clear(): void {
    this.#entries = [];
  }
}

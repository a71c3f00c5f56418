// How text of others is shown to a person who decides by it. Everything that can't be seen, that changes the order or place of what is
// seen, or that reads as something else is written out as its code point, `⟨U+202E⟩`. The text itself is never changed: what is shown
// here is what is sent, in a spelling that can't mislead.
import { LOOK_ALIKE_LETTER, LOOK_ALIKE_SIGN } from './look-alikes.ts';

/**
 * Controls, line ends, bidirectional and other format characters, unassigned and private ones, blanks other than the space, and
 * letters that are drawn as nothing (the Hangul fillers, the braille blank).
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]|(?! )\p{Zs}/u;

/** A mark has a letter to stand on, and few stand on one: the rest only covers what is around. */
const MOST_MARKS = 2;

/** Scripts that are written in one word with Latin letters by people who mean nothing by it. */
const MIXES_WITH_LATIN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Common}\p{Script=Inherited}]/u;
const LATIN = /\p{Script=Latin}/u;
const LETTER = /\p{L}/u;
const MARK = /\p{M}/u;
const PRINTABLE_ASCII = /^[ -~]+$/;

/** The text as a person may read it. Printable ASCII stays as it is; so does ordinary writing in any one script. */
export function shownText(text: string): string {
  // A name without blanks is read as one word, whatever signs part it.
  const words = /\s/.test(text) ? text.split(/([\p{L}\p{M}\p{N}]+)/u) : [text];
  return words.map(shownWord).join('');
}

/** True where something of the text is written out as its code point. */
export function hasMarks(text: string): boolean {
  return shownText(text) !== text;
}

function shownWord(word: string): string {
  const characters = Array.from(word);
  const marksForeign = misleadsAsLatin(characters);
  let marks = MOST_MARKS;
  return characters
    .map((character) => {
      marks = MARK.test(character) ? marks + 1 : 0;
      const misplaced = marks > MOST_MARKS;
      const foreign = marksForeign && isForeignLetter(character);
      return misplaced || foreign || isMarkedAlways(character) ? marked(character) : character;
    })
    .join('');
}

function isMarkedAlways(character: string): boolean {
  if (PRINTABLE_ASCII.test(character)) return false;
  return (
    UNSEEN.test(character) ||
    LOOK_ALIKE_SIGN.test(character) ||
    // Digits of other scripts are read as other digits.
    /\p{Nd}/u.test(character) ||
    // Full width, mathematical, circled and the like: Unicode itself says that these are ASCII in another dress.
    PRINTABLE_ASCII.test(character.normalize('NFKC'))
  );
}

/** Latin mixed with letters of a script that can pass for it, or a whole word of letters that pass for Latin ones. */
function misleadsAsLatin(characters: readonly string[]): boolean {
  const letters = characters.filter((one) => LETTER.test(one));
  const foreign = letters.filter(isForeignLetter);
  if (foreign.length === 0) return false;
  return (
    letters.some((one) => LATIN.test(one)) || foreign.every((one) => LOOK_ALIKE_LETTER.test(one))
  );
}

function isForeignLetter(character: string): boolean {
  return LETTER.test(character) && !LATIN.test(character) && !MIXES_WITH_LATIN.test(character);
}

function marked(character: string): string {
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `\u{27e8}U+${point}\u{27e9}`;
}

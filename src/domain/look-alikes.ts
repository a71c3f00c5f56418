// Letters and signs of other scripts that a person takes for Latin letters, digits or ASCII signs: the part of Unicode's confusables
// (UTS #39) whose prototypes are printable ASCII, for the scripts that are used in names and domains. Code points that Unicode itself
// maps to ASCII (full width, mathematical letters) need no row here: see `shown-text.ts`. Written as numbers, because the letters
// themselves would mislead whoever reads this file.

const LETTERS = {
  cyrillic: String.raw`\u{405}\u{406}\u{408}\u{410}\u{412}\u{415}\u{41a}\u{41c}-\u{41e}\u{420}-\u{422}\u{425}\u{430}\u{435}\u{43e}\u{440}\u{441}\u{443}\u{445}\u{455}\u{456}\u{458}\u{4ae}\u{4af}\u{4ba}\u{4bb}\u{4c0}\u{4cf}\u{501}\u{50c}\u{51a}-\u{51d}`,
  greek: String.raw`\u{391}\u{392}\u{395}-\u{397}\u{399}\u{39a}\u{39c}\u{39d}\u{39f}\u{3a1}\u{3a4}\u{3a5}\u{3a7}\u{3b1}\u{3b9}\u{3ba}\u{3bd}\u{3bf}\u{3c1}\u{3c5}\u{3f2}\u{3f3}\u{3f9}`,
  armenian: String.raw`\u{53c}\u{54d}\u{54f}\u{555}\u{566}\u{570}\u{572}\u{576}\u{578}\u{57d}\u{57e}\u{580}-\u{582}\u{584}`,
  hebrewArabicGeorgian: String.raw`\u{5d5}\u{5d8}\u{5df}\u{5e1}\u{627}\u{647}\u{6c1}\u{6d5}\u{10e7}\u{10fd}`,
  /** Most of their capitals have a Latin twin, so all of these scripts count. */
  wholeScripts: String.raw`\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}`,
};

const SIGNS = {
  /** As a full stop, comma, colon or exclamation mark. */
  points: String.raw`\u{1c3}\u{2d0}\u{2f8}\u{589}\u{5c3}\u{60d}\u{66b}\u{6d4}\u{701}\u{702}\u{201a}\u{2236}\u{a4f8}\u{a60e}\u{a789}`,
  /** As a slash or backslash. */
  slashes: String.raw`\u{337}\u{338}\u{1735}\u{2044}\u{2215}\u{2216}\u{2571}\u{27cb}\u{27cd}\u{29f8}\u{29f9}`,
  /** As a hyphen or minus; longer dashes are seen for what they are. */
  hyphens: String.raw`\u{2d7}\u{58a}\u{1806}\u{2010}-\u{2012}\u{2043}\u{2212}\u{10191}`,
  /** As an underscore, asterisk or bar. */
  others: String.raw`\u{1c0}\u{2017}\u{204e}\u{2217}\u{2223}\u{23fd}\u{fe4d}`,
  /** The brackets of the marks that this project writes, and what reads like them: nobody else may write them. */
  brackets: String.raw`\u{2329}\u{232a}\u{27e8}\u{27e9}\u{3008}\u{3009}`,
  /** Latin letters that only phoneticians use, and that read as ordinary ones. */
  phonetic: String.raw`\u{131}\u{237}\u{250}-\u{2af}\u{1d00}-\u{1dbf}\u{a730}\u{a731}\u{a7fa}`,
};

const anyOf = (classes: Readonly<Record<string, string>>): RegExp =>
  new RegExp(`[${Object.values(classes).join('')}]`, 'u');

/** Letters that read as Latin ones where nothing around them says otherwise. */
export const LOOK_ALIKE_LETTER = anyOf(LETTERS);

/** Characters that are never what they read as, whatever stands around them. */
export const LOOK_ALIKE_SIGN = anyOf(SIGNS);

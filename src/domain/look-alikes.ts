// Letters and signs of other scripts that a person takes for Latin letters, digits or ASCII signs: the part of Unicode's confusables
// (UTS #39) whose prototypes are printable ASCII, for the scripts that are used in names and domains. Code points that Unicode itself
// maps to ASCII (full width, mathematical letters) need no row here: see `shown-text.ts`.

/** Scripts of which most capital letters have a Latin twin: their letters count as look-alikes without being listed. */
export const LOOK_ALIKE_SCRIPTS = /[\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}]/u;

/** Latin letters that only phoneticians use, and that read as ordinary ones. */
export const PHONETIC = /[\u{131}\u{237}\u{250}-\u{2af}\u{1d00}-\u{1dbf}\u{a7fa}\u{a731}\u{a730}]/u;

const CYRILLIC = 'АВСЕНІЈКМОРЅТХҮԌԚԜӀҺаеорсухһіјѕԁԛԝүӏ';
const GREEK = 'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳαικνορυϲ';
const ARMENIAN = 'ՕՍՏԼորսհոցքղնզվւ';
const OTHERS = '\u{5d5}\u{5d8}\u{5df}\u{5e1}\u{627}\u{6c1}\u{647}\u{665}\u{6d5}\u{10e7}\u{10fd}';

/** Letters that read as Latin ones where nothing around them says otherwise. */
export const LOOK_ALIKE_LETTERS: ReadonlySet<string> = new Set([
  ...CYRILLIC,
  ...GREEK,
  ...ARMENIAN,
  ...OTHERS,
]);

/** Signs that read as ASCII signs and part or join what an ASCII one would not. */
export const LOOK_ALIKE_SIGNS: ReadonlySet<string> = new Set([
  // As a full stop, comma, colon or exclamation mark.
  ...'\u{a4f8}\u{701}\u{702}\u{660}\u{6f0}\u{a60e}\u{201a}\u{66b}\u{60d}\u{a789}\u{2236}\u{589}\u{5c3}\u{2d0}\u{2f8}\u{1c3}\u{6d4}\u{3002}',
  // As a slash or backslash.
  ...'\u{2044}\u{2215}\u{29f8}\u{29f9}\u{2216}\u{1735}\u{2571}\u{27cb}\u{27cd}\u{338}\u{337}',
  // As a hyphen or minus; dashes that are longer are seen for what they are.
  ...'\u{2010}\u{2011}\u{2012}\u{2212}\u{2d7}\u{2043}\u{58a}\u{1806}\u{10191}',
  // As an underscore, at sign, hash, ampersand, asterisk or bar.
  ...'\u{2017}\u{fe4d}\u{204e}\u{2217}\u{2223}\u{1c0}\u{23fd}',
  // The marks that this project writes: nobody else may write them.
  ...'\u{27e8}\u{27e9}\u{2329}\u{232a}\u{3008}\u{3009}',
]);

// Currencies that can be paid in, by the number of digits of their minor unit: ISO 4217 list one, published 2026-01-01.
// Codes without a minor unit in that list (metals, test codes, "no currency") and withdrawn codes are left out on purpose.
// Never taken from Intl: it follows CLDR, which says 0 for currencies such as IQD and HUF.

/** Date of the ISO 4217 list that the table below is taken from. */
export const CURRENCIES_PUBLISHED = '2026-01-01';

const CODES_BY_DIGITS: Readonly<Record<number, string>> = {
  0: `
    BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF
  `,
  2: `
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
    CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP
    GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK
    LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO
    NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS
    SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST
    XAD XCD XCG YER ZAR ZMW ZWG
  `,
  3: `
    BHD IQD JOD KWD LYD OMR TND
  `,
  4: `
    CLF UYW
  `,
};

/** Currency code to the number of digits of its minor unit. */
export const MINOR_UNIT_DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries(CODES_BY_DIGITS).flatMap(([digits, codes]) =>
    codes
      .trim()
      .split(/\s+/)
      .map((code) => [code, Number(digits)] as const),
  ),
);

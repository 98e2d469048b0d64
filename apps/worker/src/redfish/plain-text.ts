/** Text of a BMC in one line without control characters, which a terminal would interpret. */
export const plainText = (value: unknown, maxLength: number): string => {
  const text = (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}

/** As `plainText`; null for a missing or empty text. */
export const textOrNull = (value: unknown, maxLength = 200): string | null => plainText(value, maxLength) || null

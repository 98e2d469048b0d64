const FORMS = [
  /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/,
  /^([0-9a-f]{2}-){5}[0-9a-f]{2}$/,
  /^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/,
  /^[0-9a-f]{12}$/,
]

/**
 * Normalizes a MAC address of 6 bytes, written with colons, hyphens, dots (`aabb.ccdd.eeff`) or without separators, to lower case
 * with colons.
 * @returns null when it is not one, and for the group and zero addresses, which no interface has
 */
export function parseMac(text: string): string | null {
  const lower = text.trim().toLowerCase()
  if (!FORMS.some((form) => form.test(lower))) return null
  const digits = lower.replace(/[:.-]/g, '')
  const isGroup = (Number.parseInt(digits.slice(0, 2), 16) & 1) === 1
  return isGroup || /^0+$/.test(digits) ? null : digits.match(/../g)!.join(':')
}

/**
 * Normalizes a part of a MAC address, with `*` and `?`, in any notation. Without colons and hyphens it inserts colons: digits
 * after a `*` are counted from the end of the address, other digits from the beginning of a byte.
 */
export function macPattern(text: string): string {
  const lower = text.trim().toLowerCase().replaceAll('-', ':')
  if (lower.includes(':')) return lower
  const parts = lower.replaceAll('.', '').split('*')
  return parts
    .map((part, i) => {
      const isEnd = i > 0 && i === parts.length - 1
      return (isEnd ? part.match(/^.(?=(..)*$)|../g) : part.match(/..?/g))?.join(':') ?? ''
    })
    .join('*')
}

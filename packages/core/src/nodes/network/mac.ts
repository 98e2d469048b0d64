const NORMALIZED = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/

/** The digits of an address of so many bytes, with colons, hyphens, dots (`aabb.ccdd.eeff`) or without separators; else null. */
function digitsOf(text: string, bytes: number): string | null {
  const lower = text.trim().toLowerCase()
  if (bytes === 6 && NORMALIZED.test(lower) && !/^[0:]+$/.test(lower)) return lower.replaceAll(':', '')
  const digits = lower.replace(/[:.-]/g, '')
  if (digits.length !== 2 * bytes || !/^[0-9a-f]+$/.test(digits) || /^0+$/.test(digits)) return null
  const forms = [digits, ...[':', '-'].map((mark) => digits.match(/../g)!.join(mark)), digits.match(/.{4}/g)!.join('.')]
  return forms.includes(lower) ? digits : null
}

const withColons = (digits: string): string => digits.match(/../g)!.join(':')

/**
 * Normalizes a MAC address of 6 bytes, in any notation, to lower case with colons.
 * @returns null when it is not one, and for the group and zero addresses, which no interface has
 */
export function parseMac(text: string): string | null {
  const digits = digitsOf(text, 6)
  const isGroup = (Number.parseInt(digits?.slice(0, 2) ?? '', 16) & 1) === 1
  return digits === null || isGroup ? null : withColons(digits)
}

/**
 * Normalizes a MAC address, or the 20 bytes of an IP over InfiniBand interface: flags, queue pair number and GID (RFC 4391).
 * @returns null when it is neither, and for multicast addresses, which no interface has
 */
export function parseHardwareAddress(text: string): string | null {
  const digits = digitsOf(text, 20)
  if (digits === null) return parseMac(text)
  return digits.slice(2, 8) === 'ffffff' ? null : withColons(digits)
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

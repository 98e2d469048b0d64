import { createHash } from 'node:crypto'

// Parts that differ between reports of the same failure, longest forms first. Each is replaced by one word.
const VARIABLE: [RegExp, string][] = [
  [/\u001b\[[0-9;]*m/g, ''],
  [/[a-z][a-z0-9+.-]*:\/\/[^\s'"<>]+/gi, 'URL'],
  [/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, 'ID'],
  [/\b(?:SHA256|MD5):[A-Za-z0-9+/=:]+/g, 'HASH'],
  [/\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g, 'TIME'],
  [/(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?![\w:])/gi, 'ADDRESS'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, 'ADDRESS'],
  [/(?<![\w.])~?(?:\/[\w.@%+~-]+){1,}\/?/g, 'PATH'],
  [/\b0x[0-9a-f]+\b/gi, 'N'],
  [/\b(?=[a-z]*\d)[0-9a-f]{8,}\b/gi, 'N'],
  [/\d+(?:\.\d+)*/g, 'N'],
]

/**
 * Returns the same text for messages about the same failure on other hosts or at other times. Ignores host names, numbers,
 * addresses, paths, hashes, case and spaces.
 * @param hostNames names that may occur in the message
 */
export function failureSignature(message: string, hostNames: string[]): string {
  let text = message
  for (const name of hostNames.toSorted((a, b) => b.length - a.length))
    if (name !== '')
      text = text.replaceAll(new RegExp(`(?<![\\w.-])${name.replaceAll(/[^\w-]/g, '\\$&')}(?![\\w-])`, 'gi'), 'HOST')
  for (const [found, word] of VARIABLE) text = text.replaceAll(found, word)
  const essence = text.toLowerCase().replaceAll(/\s+/g, ' ').trim()
  return createHash('sha256').update(essence).digest('hex').slice(0, 16)
}

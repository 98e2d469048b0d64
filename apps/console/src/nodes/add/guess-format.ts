import type { ImportInput } from './documents.ts'

/** Guesses the format of a pasted text. */
export function guessFormat(text: string): ImportInput['format'] {
  const first = text.split('\n').find((line) => line.trim() && !line.trim().startsWith('#')) ?? ''
  if (
    /^\s*\[[A-Za-z_][\w:.-]*\]\s*$/m.test(text) ||
    /ansible_(host|port|user)\s*[=:]/.test(text) ||
    /^(all|ungrouped):\s*$/m.test(text)
  )
    return 'INVENTORY'
  if (/^\s*"?(name|host|address|hostname|ip)"?\s*[,;\t]/i.test(first)) return 'CSV'
  return 'LIST'
}

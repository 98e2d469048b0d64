import { isScalar, parseDocument, visit } from 'yaml'
import { t } from '@/messages/index.ts'

export type ParsedVars = { vars: Record<string, unknown> | null; error: string | null }

/** Parses extra vars, YAML or JSON, to a JSON object; null for empty text. The error names the problem and its position. */
export function parseVars(text: string): ParsedVars {
  if (!text.trim()) return { vars: null, error: null }
  try {
    const value = readYaml(text)
    if (value === null) return { vars: null, error: null }
    if (typeof value !== 'object' || Array.isArray(value)) return { vars: null, error: t('runs.varsNotObject') }
    return { vars: JSON.parse(JSON.stringify(value)) as Record<string, unknown>, error: null }
  } catch (error) {
    const [firstLine = ''] = error instanceof Error ? error.message.split('\n') : []
    return { vars: null, error: firstLine.replace(/:$/, '') || t('runs.varsNotObject') }
  }
}

/** Reads YAML as Ansible does, which is YAML 1.1, except that Ansible reads `y` and `n` as text. */
function readYaml(text: string): unknown {
  const document = parseDocument(text, { version: '1.1' })
  const [problem] = document.errors
  if (problem) throw problem
  visit(document, {
    Pair(_, { key }) {
      // `x: {{ y }}` is a map with a map as its key in YAML; the author means a Jinja expression.
      if (isScalar(key) || typeof key !== 'object' || key === null || !('range' in key)) return
      const [start, end] = (key.range as [number, number] | undefined) ?? [0, 0]
      throw new Error(t('runs.varsQuote', { value: `{${text.slice(start, end)}}` }))
    },
    Scalar(_, node) {
      if (node.value instanceof Date || node.format === 'TIME') throw new Error(t('runs.varsQuote', { value: node.source ?? '' }))
      // The library reads these as booleans.
      if (typeof node.value === 'boolean' && /^[yn]$/i.test(node.source ?? '')) node.value = node.source
    },
  })
  return document.toJS({ maxAliasCount: 0 })
}

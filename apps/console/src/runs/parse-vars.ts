import { parseDocument, visit } from 'yaml'

export type ParsedVars = { vars: Record<string, unknown> | null; error: string | null }

/** Extra vars as one types them, YAML or JSON, to a JSON object; nothing typed means none. The error says what and where. */
export function parseVars(text: string, notAnObject: string): ParsedVars {
  if (!text.trim()) return { vars: null, error: null }
  try {
    const value = readYaml(text)
    if (value === null) return { vars: null, error: null }
    if (typeof value !== 'object' || Array.isArray(value)) return { vars: null, error: notAnObject }
    return { vars: JSON.parse(JSON.stringify(value)) as Record<string, unknown>, error: null }
  } catch (error) {
    return {
      vars: null,
      error: error instanceof Error ? (error.message.split('\n')[0] ?? error.message).replace(/:$/, '') : notAnObject,
    }
  }
}

/** What it means to Ansible, which reads YAML 1.1: `yes` is true, and `y` is text. */
function readYaml(text: string): unknown {
  const document = parseDocument(text, { version: '1.1' })
  if (document.errors[0]) throw document.errors[0]
  visit(document, {
    Scalar(_, node) {
      if (node.value instanceof Date || node.format === 'TIME') throw new Error(`${node.source}: put it in quotes`)
      // To the library these are booleans.
      if (typeof node.value === 'boolean' && /^[yn]$/i.test(node.source ?? '')) node.value = node.source
    },
  })
  return document.toJS({ maxAliasCount: 0 })
}

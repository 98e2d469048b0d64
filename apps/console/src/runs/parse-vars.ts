import { parse } from 'yaml'

export type ParsedVars = { vars: Record<string, unknown> | null; error: string | null }

/** Extra vars as one types them, YAML or JSON, to a JSON object; nothing typed means none. The error says what and where. */
export function parseVars(text: string, notAnObject: string): ParsedVars {
  if (!text.trim()) return { vars: null, error: null }
  try {
    // Core schema without merge keys or custom tags: what comes out is plain JSON.
    const value: unknown = parse(text, { schema: 'core', maxAliasCount: 0 })
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

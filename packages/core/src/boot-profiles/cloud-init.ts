import { parseYaml, YamlError } from '../kernel/yaml.ts'

/** How cloud-init recognizes the formats of user-data and vendor-data. */
const FORMATS = [
  '#cloud-config',
  '#!',
  '#include',
  '#cloud-boothook',
  '#part-handler',
  '## template: jinja',
  'Content-Type:',
  'MIME-Version:',
]

/** Why cloud-init would reject `text` as user-data or vendor-data; null when it would not. */
export function userDataError(text: string): string | null {
  const first = text.split('\n', 1)[0]!.trimEnd()
  if (!FORMATS.some((format) => first.startsWith(format)))
    return `must begin with ${FORMATS.slice(0, 3).join(', ')} or another format of cloud-init`
  // An archive is a list of parts, and jsonp a JSON patch.
  if (!first.startsWith('#cloud-config') || first.startsWith('#cloud-config-')) return null
  return mappingError(text, () => null)
}

/** Why cloud-init would reject `text` as network-config of version 1 or 2; null when it would not. */
export const networkConfigError = (text: string): string | null =>
  mappingError(text, (mapping) => {
    const config = isMapping(mapping.network) ? mapping.network : mapping
    if (config.version !== 1 && config.version !== 2) return 'must have `version: 1` or `version: 2`'
    if (config.version === 2) return null
    return Array.isArray(config.config) ? null : 'version 1 must have a list `config`'
  })

function mappingError(text: string, check: (mapping: Record<string, unknown>) => string | null): string | null {
  try {
    const value = parseYaml(text)
    // An empty document is a mapping without keys to cloud-init.
    if (value === null) return check({})
    return isMapping(value) ? check(value) : 'must be a YAML mapping'
  } catch (error) {
    if (error instanceof YamlError) return error.message
    throw error
  }
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

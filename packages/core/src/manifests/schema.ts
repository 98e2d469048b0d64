import { z } from 'zod'
import { KINDS, type KindName, kindOf } from './kinds/index.ts'
import { API_VERSION } from './parse/parse-manifests.ts'

/** JSON Schema of one document of a kind, for editors. */
export function manifestSchema(name: KindName): Record<string, unknown> {
  const { spec, description } = kindOf(name)
  const fields = z.toJSONSchema(spec, { io: 'input', unrepresentable: 'any' }) as {
    properties: Record<string, unknown>
  } & Record<string, unknown>
  const { $schema: _schema, ...body } = fields
  if (name === 'ComputeNode')
    body.properties = {
      ...body.properties,
      nid: { anyOf: [body.properties.nid, { type: 'string', pattern: '^\\d+\\+\\d{0,6}$' }] },
    }
  const named = name === 'ComputeNode' ? { oneOf: [{ required: ['name'] }, { required: ['nodes'] }] } : { required: ['name'] }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    description,
    type: 'object',
    properties: {
      apiVersion: { const: API_VERSION },
      kind: { const: name },
      metadata: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          ...(name === 'ComputeNode' ? { nodes: { type: 'string', description: 'Hostlist: one node per name.' } } : {}),
          resourceVersion: { type: 'string', description: 'Apply only if the object still has this version.' },
        },
        additionalProperties: false,
        ...named,
      },
      spec: body,
    },
    required: ['apiVersion', 'kind', 'metadata'],
    additionalProperties: false,
  }
}

export const manifestSchemas = () => KINDS.map((name) => [name, manifestSchema(name)] as const)

import type { JobRunEvent } from '@muster/core/runs'
import {
  type FieldNode,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNullableType,
  isLeafType,
  Kind,
} from 'graphql'

/** Replaces the empty event list in a result with the serialized events of the batch. */
export type WriteEvents = (data: Record<string, unknown>, events: JobRunEvent[]) => void

const keyOf = (field: FieldNode) => field.alias?.value ?? field.name.value

/**
 * Compiles a serializer for the `events` selection of the `jobRunEvents` field `log`. It bypasses the resolvers of event fields, which
 * are most of the cost of a batch. Null when the selection has fragments, directives or computed fields: those need the executor.
 */
export function compileEventWriter(schema: GraphQLSchema, log: FieldNode): WriteEvents | null {
  const fields = plainFields(log)
  const lists = fields?.filter((field) => field.name.value === 'events') ?? []
  const selected = lists.length === 1 && plainFields(lists[0]!)
  if (!selected) return null
  const type = schema.getType('JobRunEvent') as GraphQLObjectType
  const fieldTypes = type.getFields()
  const columns: [key: string, property: keyof JobRunEvent, leaf: GraphQLLeafType][] = []
  for (const field of selected) {
    const { extensions, type } = fieldTypes[field.name.value] ?? {}
    const leaf = type && getNullableType(type)
    const property = extensions?.pothosExposedField
    if (typeof property !== 'string' || !isLeafType(leaf)) return null
    columns.push([keyOf(field), property as keyof JobRunEvent, leaf])
  }
  const serialize = (event: JobRunEvent) => {
    const result: Record<string, unknown> = {}
    for (const [key, property, leaf] of columns) result[key] = event[property] === null ? null : leaf.serialize(event[property])
    return result
  }
  return (data, events) => {
    const batch = data[keyOf(log)] as Record<string, unknown>
    batch[keyOf(lists[0]!)] = events.map(serialize)
  }
}

/** Selected fields; null when the selection has fragments or directives. */
function plainFields({ selectionSet }: FieldNode): FieldNode[] | null {
  const selections = selectionSet?.selections ?? []
  const fields = selections.filter((each) => each.kind === Kind.FIELD)
  return fields.length === selections.length && fields.every((field) => !field.directives?.length) ? fields : null
}

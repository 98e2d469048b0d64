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

/** Puts the events of a batch into its result, in place of the empty list that stands there. */
export type PutEvents = (data: Record<string, unknown>, events: JobRunEvent[]) => void

const keyOf = (field: FieldNode) => field.alias?.value ?? field.name.value

/**
 * How the `events` that `log` (the field `jobRunEvents`) selects are made without a resolver for each of their fields: they are
 * most of what a batch costs. Null when the selection is more than plain fields; resolvers make that.
 */
export function planEvents(schema: GraphQLSchema, log: FieldNode): PutEvents | null {
  const fields = plainFields(log)
  const lists = fields?.filter((field) => field.name.value === 'events') ?? []
  const asked = lists.length === 1 && plainFields(lists[0]!)
  if (!asked) return null
  const type = schema.getType('JobRunEvent') as GraphQLObjectType
  const known = type.getFields()
  const makers: [key: string, property: keyof JobRunEvent, leaf: GraphQLLeafType][] = []
  for (const field of asked) {
    const { extensions, type } = known[field.name.value] ?? {}
    const leaf = type && getNullableType(type)
    const property = extensions?.pothosExposedField
    if (typeof property !== 'string' || !isLeafType(leaf)) return null
    makers.push([keyOf(field), property as keyof JobRunEvent, leaf])
  }
  const made = (event: JobRunEvent) => {
    const out: Record<string, unknown> = {}
    for (const [key, property, leaf] of makers) out[key] = event[property] === null ? null : leaf.serialize(event[property])
    return out
  }
  return (data, events) => {
    const batch = data[keyOf(log)] as Record<string, unknown>
    batch[keyOf(lists[0]!)] = events.map(made)
  }
}

/** Null when there are fragments or directives. */
function plainFields({ selectionSet }: FieldNode): FieldNode[] | null {
  const selections = selectionSet?.selections ?? []
  const fields = selections.filter((each) => each.kind === Kind.FIELD)
  return fields.length === selections.length && fields.every((field) => !field.directives?.length) ? fields : null
}

import type { As, testApi } from './api.ts'

type Issue = { path: string; message: string }
// biome-ignore lint/suspicious/noExplicitAny: the shape follows from the selection.
export type MutationResult = { __typename: string; message: string; code: string; issues: Issue[] } & Record<string, any>

/**
 * Sends `name(input: …)` and returns its result: the payload's fields, or the fields of the error.
 * @param selection fields of the payload type
 */
export async function mutate(
  api: Awaited<ReturnType<typeof testApi>>,
  as: As,
  name: string,
  selection: string,
  input?: object,
): Promise<MutationResult> {
  const typeName = name[0]!.toUpperCase() + name.slice(1)
  const [parameter, argument] = input ? [`($input: ${typeName}Input!)`, '(input: $input)'] : ['', '']
  const payload = selection ? `... on ${typeName}Payload { ${selection} }` : ''
  const query = `mutation ${parameter} {
    result: ${name}${argument} { __typename ${payload} ... on Error { message code ... on InvalidInputError { issues { path message } } } }
  }`
  const { result } = await api.ask<{ result: MutationResult }>(as, query, input ? { input } : {})
  return result
}

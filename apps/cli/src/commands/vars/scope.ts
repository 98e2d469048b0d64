import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { noNode } from '../../ids.ts'
import { readStdin } from '../../prompt.ts'

export type Place = { group?: string; node?: string }
/** Whose variables: ids for the API, and how messages call them. `version` 0: none were ever set. */
export type Scope = {
  ids: { groupId?: string; nodeId?: string }
  label: string
  text: string
  vars: unknown
  secretNames: string[]
  version: number
}

/** `-g` and `-n`; without them it is about all nodes. */
export const withPlace = (command: Command): Command =>
  command.option('-g, --group <name>', 'of a group').option('-n, --node <name>', 'of a node')

export const withReason = (command: Command): Command => command.option('--reason <text>', 'why; kept in the history')

/** @throws CliError when there is no such group or node */
export async function readScope({ group, node }: Place): Promise<Scope> {
  if (group && node) throw new CliError('Name a group or a node, not both.', EXIT.usage)
  const none = { text: '', vars: {}, secretNames: [] as string[], version: 0 }
  if (group) {
    const { nodeGroup } = await request(
      graphql(`query VarsOfGroup($name: String!) { nodeGroup(name: $name) { id vars { text vars secretNames version } } }`),
      { name: group },
    )
    if (!nodeGroup) throw new CliError(`No group is called ${group}. See \`muster group list\`.`, EXIT.notFound)
    return { ...(nodeGroup.vars ?? none), ids: { groupId: nodeGroup.id }, label: `the group ${group}` }
  }
  if (node) {
    const { computeNode } = await request(
      graphql(`query VarsOfNode($name: String!) { computeNode(name: $name) { id vars { text vars secretNames version } } }`),
      { name: node },
    )
    if (!computeNode) throw noNode(node)
    return { ...(computeNode.vars ?? none), ids: { nodeId: computeNode.id }, label: `the node ${node}` }
  }
  const { globalVars } = await request(graphql(`query GlobalVars { globalVars { text vars secretNames version } }`), {})
  return { ...(globalVars ?? none), ids: {}, label: 'all nodes' }
}

/** Save `text` over what `scope` was when it was read. @throws CliError, also when somebody else was faster */
export async function saveText(scope: Scope, text: string, reason: string | undefined): Promise<void> {
  const { setVars } = await request(
    graphql(`mutation VarsSet($input: SetVarsInput!) {
      setVars(input: $input) { __typename ... on VariableScope { version } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { input: { ...scope.ids, text, basedOn: scope.version, ...(reason ? { reason } : {}) } },
  )
  const { version } = orThrow(setVars)
  process.stderr.write(`Set the variables of ${scope.label}: version ${version}.\n`)
}

/** What a file holds; `-` is standard input. */
export async function readText(file: string): Promise<string> {
  if (file === '-') return `${await readStdin()}\n`
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`, EXIT.usage)
  }
}

/** A value for a table: text as it is, anything else as JSON. */
export const shown = (each: { value: unknown; isSecret: boolean } | null): string =>
  each === null ? '' : each.isSecret ? '(secret)' : typeof each.value === 'string' ? each.value : JSON.stringify(each.value)

/** Where a value comes from: `global`, `group amd`, `node`. */
export const origin = ({ layer, group }: { layer: string; group: string | null }): string =>
  group ? `group ${group}` : layer.toLowerCase()

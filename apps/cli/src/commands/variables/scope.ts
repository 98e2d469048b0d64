import { readFileSync } from 'node:fs'
import { request } from '../../client.ts'
import type { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { groupNotFound } from '../../lookup.ts'
import { readStdin } from '../../prompt.ts'
import { selectNode } from '../../selector.ts'

/** A value as the API returns it; that of a secret is not returned. */
type Value = { json: unknown; isSecret: boolean }

export type ScopeOptions = { group?: string; node?: string }
/** Variables of all nodes, a group or a node. `version` 0: never set. `label` is the name in messages. */
export type Scope = {
  ids: { groupId?: string; nodeId?: string }
  label: string
  text: string
  vars: { name: string; value: Value }[]
  version: number
}

/** Adds `-g` and `-n`; without them a command applies to all nodes. */
export const withScope = (command: Command): Command =>
  command
    .option('-g, --group <name>', 'variables of a group')
    .option('-n, --node <selector>', 'variables of a node: its name, or a selector that matches one node')

export const withReason = (command: Command): Command => command.option('--reason <text>', 'reason, kept in the history')

/** @throws CliError when the group or node does not exist */
export async function readScope({ group, node }: ScopeOptions): Promise<Scope> {
  if (group && node) throw new CliError('Use --group or --node, not both.', EXIT.usage)
  const none = { text: '', vars: [] as Scope['vars'], version: 0 }
  if (group) {
    const { nodeGroup } = await request(
      graphql(
        `query VarsOfGroup($name: String!) { nodeGroup(name: $name) { id vars { text vars { name value { json isSecret } } version } } }`,
      ),
      { name: group },
    )
    if (!nodeGroup) throw groupNotFound(group)
    return { ...(nodeGroup.vars ?? none), ids: { groupId: nodeGroup.id }, label: `group ${group}` }
  }
  if (node) {
    const { id, name } = await selectNode(node)
    const { node: found } = await request(
      graphql(
        `query VarsOfNode($id: ID!) { node(id: $id) { ... on ComputeNode { vars { text vars { name value { json isSecret } } version } } } }`,
      ),
      { id },
    )
    return { ...((found && 'vars' in found && found.vars) || none), ids: { nodeId: id }, label: `node ${name}` }
  }
  const { globalVars } = await request(
    graphql(`query GlobalVars { globalVars { text vars { name value { json isSecret } } version } }`),
    {},
  )
  return { ...(globalVars ?? none), ids: {}, label: 'all nodes' }
}

/** Saves `text` for a scope. @throws CliError, also when the variables changed since `scope` was read */
export async function saveText(scope: Scope, text: string, reason: string | undefined): Promise<void> {
  const { setVars } = await request(
    graphql(`mutation VarsSet($input: SetVarsInput!) {
      setVars(input: $input) { __typename ... on SetVarsPayload { variableScope { version } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { input: { ...scope.ids, text, basedOn: scope.version, ...(reason ? { reason } : {}) } },
  )
  const { version } = orThrow(setVars).variableScope
  process.stderr.write(`Saved the variables of ${scope.label}: version ${version}.\n`)
}

/** Reads a file; `-` is standard input. */
export async function readText(file: string): Promise<string> {
  if (file === '-') return `${await readStdin()}\n`
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
  }
}

/** A value in a table: text unchanged, other values as JSON. */
export const shown = (each: { value: Value } | null): string => {
  if (each === null) return ''
  const { json, isSecret } = each.value
  return isSecret ? '(secret)' : typeof json === 'string' ? json : JSON.stringify(json)
}

/** Source of a value: `global`, `group amd`, `node`. */
export const origin = ({ layer, group }: { layer: string; group: string | null }): string =>
  group ? `group ${group}` : layer.toLowerCase()

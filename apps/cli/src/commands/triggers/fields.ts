import { InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import type { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { commaList, integer, omitUndefined } from '../../options.ts'
import { addVars } from '../runs/run.ts'

type Variable = { name: string; path: string; isRequired: boolean }

export type TriggerOptions = {
  template?: string
  limit?: string
  nodesPath?: string
  description?: string
  variable?: Variable[]
  maxPerHour?: number
  extraVars?: Record<string, unknown>
  tags?: string[]
  skipTags?: string[]
  check?: true
  diff?: true
}

/** Options of `create` and `update`. */
export const withTriggerFields = (command: Command): Command =>
  command
    .option('--template <template>', 'job template of the runs')
    .option('-l, --limit <expression>', 'selector of the nodes, resolved at each request')
    .option(
      '--nodes-path <pointer>',
      "JSON Pointer to node names in the body, which must match --limit; '' for all nodes of --limit",
    )
    .option('--description <text>', 'description')
    .option(
      '--variable <name=pointer>',
      'extra var with the value at this JSON Pointer in the body; NAME?=POINTER when it is optional; repeatable',
      (text: string, before: Variable[] = []) => [...before, parseVariable(text)],
    )
    .option('--max-per-hour <n>', 'reject more requests in an hour (default: 60)', integer)
    .option('-e, --extra-vars <vars>', 'fixed extra vars: key=value, YAML, JSON or @FILE; repeatable', addVars)
    .option('-t, --tags <tags>', 'only tasks with one of these tags, separated by commas', commaList)
    .option('--skip-tags <tags>', 'skip tasks with one of these tags', commaList)
    .option('-C, --check', 'dry run: report changes only')
    .option('-D, --diff', 'show changes of files')

function parseVariable(text: string): Variable {
  const [, name, optional, path] = /^([^=?]+)(\?)?=(\/.*)$/.exec(text) ?? []
  if (!name || !path) throw new InvalidArgumentError('Use NAME=/JSON/POINTER or NAME?=/JSON/POINTER.')
  return { name, path, isRequired: !optional }
}

/** Input fields of the API for the options. */
export function triggerFields(options: TriggerOptions) {
  const { template, limit, nodesPath, description, variable, maxPerHour, extraVars, tags, skipTags, check, diff } = options
  const settings = omitUndefined({ extraVars, jobTags: tags, skipTags, checkMode: check, diffMode: diff })
  return omitUndefined({
    template,
    limit,
    nodesPath: nodesPath === undefined ? undefined : nodesPath || null,
    description,
    variables: variable,
    maxPerHour,
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  })
}

const FIND = graphql(`query TriggerByName($name: String!) { trigger(name: $name) { id } }`)

export const noTrigger = (name: string) => new CliError(`No trigger named ${name}. See \`muster trigger list\`.`, EXIT.notFound)

/** The ID of the trigger with this name. */
export async function findTrigger(name: string): Promise<string> {
  const { trigger } = await request(FIND, { name })
  if (!trigger) throw noTrigger(name)
  return trigger.id
}

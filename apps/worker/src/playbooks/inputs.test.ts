import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { BUILT_IN_TEMPLATES } from '@muster/core/templates'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const playbooks = path.resolve(import.meta.dirname, '../../../../playbooks')
const read = (file: string) => parse(readFileSync(path.join(playbooks, file), 'utf8'))
const withRole = BUILT_IN_TEMPLATES.flatMap((template) => {
  const role = read(template.playbookPath)[0].roles?.[0]
  return role && 'inputSchema' in template
    ? [{ name: template.name, inputSchema: template.inputSchema, role: role as string }]
    : []
})

test('shipped playbooks and built-in templates correspond', () => {
  const files = globSync('*.yml', { cwd: playbooks }).filter((file) => !file.startsWith('.'))
  expect(BUILT_IN_TEMPLATES.map((template) => template.playbookPath).sort()).toEqual(files.sort())
  expect(BUILT_IN_TEMPLATES.map((template) => template.name)).toEqual(
    BUILT_IN_TEMPLATES.map((template) => path.basename(template.playbookPath, '.yml')),
  )
  expect(withRole).toHaveLength(10)
})

/** Variables of nodes, not inputs of runs. */
const NODE_VARIABLES = ['muster_agent_node_id', 'muster_agent_settings']

describe.each(withRole)('$name', ({ role, inputSchema }) => {
  const defaults: Record<string, unknown> = read(`roles/${role}/defaults/main.yml`)
  const properties = inputSchema.properties as Record<string, { examples?: unknown[] }>

  test('accepts the variables of its role and shows their defaults', () => {
    const asked = Object.keys(defaults).filter((name) => !NODE_VARIABLES.includes(name))
    expect(Object.keys(properties).sort()).toEqual(asked.sort())
    // Variables with an empty default may have another example; secrets have none.
    const shown = asked.map((name) => [name, defaults[name] === '' ? '' : properties[name]!.examples?.[0]])
    // The default may be the value of another variable.
    const follow = (value: unknown) =>
      typeof value === 'string' ? value.replace(/^\{\{ (\w+) \}\}$/, (_, other) => String(defaults[other])) : value
    const fixed = asked.map((name) => [name, follow(defaults[name])])
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(fixed))
  })
})

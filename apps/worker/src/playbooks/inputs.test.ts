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

test('every playbook that we ship has its template, and none is missing', () => {
  const files = globSync('*.yml', { cwd: playbooks }).filter((file) => !file.startsWith('.'))
  expect(BUILT_IN_TEMPLATES.map((template) => template.playbookPath).sort()).toEqual(files.sort())
  expect(BUILT_IN_TEMPLATES.map((template) => template.name)).toEqual(
    BUILT_IN_TEMPLATES.map((template) => path.basename(template.playbookPath, '.yml')),
  )
  expect(withRole).toHaveLength(7)
})

/** For the variables of nodes rather than for a run: each node's own name, and settings of any shape. */
const NOT_ASKED = ['muster_agent_node_id', 'muster_agent_settings']

describe.each(withRole)('$name', ({ role, inputSchema }) => {
  const defaults: Record<string, unknown> = read(`roles/${role}/defaults/main.yml`)
  const properties = inputSchema.properties as Record<string, { examples?: unknown[] }>

  test('takes the variables of its role, and shows their defaults', () => {
    const asked = Object.keys(defaults).filter((name) => !NOT_ASKED.includes(name))
    expect(Object.keys(properties).sort()).toEqual(asked.sort())
    // What has no default of its own shows what it may look like, or nothing if it is a secret.
    const shown = asked.map((name) => [name, defaults[name] === '' ? '' : properties[name]!.examples?.[0]])
    // One variable may follow another.
    const follow = (value: unknown) =>
      typeof value === 'string' ? value.replace(/^\{\{ (\w+) \}\}$/, (_, other) => String(defaults[other])) : value
    const fixed = asked.map((name) => [name, follow(defaults[name])])
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(fixed))
  })
})

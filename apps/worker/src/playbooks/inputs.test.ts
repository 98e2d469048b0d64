import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { BUILT_IN_TEMPLATES } from '@muster/core/jobs'
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
  expect(withRole).toHaveLength(6)
})

describe.each(withRole)('$name', ({ role, inputSchema }) => {
  const defaults: Record<string, unknown> = read(`roles/${role}/defaults/main.yml`)
  const properties = inputSchema.properties as Record<string, { examples: unknown[] }>

  test('takes the variables of its role, and shows their defaults', () => {
    expect(Object.keys(properties).sort()).toEqual(Object.keys(defaults).sort())
    const shown = Object.entries(properties).map(([name, { examples }]) => [name, examples[0]])
    // One variable may follow another.
    const fixed = Object.entries(defaults).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replace(/^\{\{ (\w+) \}\}$/, (_, other) => String(defaults[other])) : value,
    ])
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(fixed))
  })
})

import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { unannouncedChanges } from './contract.ts'

const released = buildSchema('type Query { node(id: ID!): String, group: Group } type Group { name: String! }')
const changelog = (unreleased: string) =>
  `# Changelog\n\n## Unreleased\n${unreleased}\n## 1.0.0 (2026-12-01)\n- Renamed \`Group.name\`.\n`

test('accepts additions', () => {
  const current = buildSchema('type Query { node(id: ID!): String, group: Group } type Group { name: String!, size: Int }')
  expect(unannouncedChanges(released, current, changelog(''))).toEqual([])
})

test('rejects a breaking change that the changelog does not announce', () => {
  const current = buildSchema('type Query { node(id: ID!, kind: String!): String, group: Group } type Group { title: String! }')
  expect(unannouncedChanges(released, current, changelog('- Something else.'))).toEqual([
    expect.stringContaining('Query.node'),
    expect.stringContaining('Group.name'),
  ])
  const announced = changelog('- `Group.name` is now `Group.title`.\n- `Query.node` requires a kind.')
  expect(unannouncedChanges(released, current, announced)).toEqual([])
})

test('ignores announcements of earlier releases', () => {
  const current = buildSchema('type Query { node(id: ID!): String, group: Group } type Group { title: String! }')
  expect(unannouncedChanges(released, current, changelog(''))).toEqual([expect.stringContaining('Group.name')])
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { muster, startTestApi, type TestApi } from '../testing/muster.ts'

let t: TestApi
let folder: string
beforeAll(async () => {
  t = await startTestApi()
  const { operator } = await t.given.tenant()
  await t.given.fleet(operator, { nodes: 3 })
  await t.signIn(operator)
  folder = mkdtempSync(join(tmpdir(), 'muster-api-'))
})
afterAll(async () => {
  await t?.close()
  rmSync(folder, { recursive: true, force: true })
})

const QUERY = 'query ($first: Int, $text: String) { nodes(first: $first, filter: { text: $text }) { edges { node { name } } } }'
const NAMES = (...names: string[]) => ({ data: { nodes: { edges: names.map((name) => ({ node: { name } })) } } })

it('sends an operation from an argument, a file or standard input, with variables', async () => {
  const file = join(folder, 'query.graphql')
  writeFileSync(file, QUERY)
  writeFileSync(join(folder, 'variables.json'), '{"first": 2}')
  const argument = await muster(['api', QUERY, '--var', 'first=1', '--var', 'text=gpu003'])
  const fromFile = await muster(['api', '-f', file, '--variables', `@${join(folder, 'variables.json')}`])
  expect(JSON.parse(argument.out)).toEqual(NAMES('gpu003'))
  expect(JSON.parse(fromFile.out)).toEqual(NAMES('gpu001', 'gpu002'))
  expect(JSON.parse((await muster(['api', '-', '--var', 'text=gpu002'], QUERY)).out)).toEqual(NAMES('gpu002'))
})

it('prints responses with errors and exits with the code of the first one', async () => {
  const unknown = await muster(['api', '{ nope }'])
  expect(unknown.code).toBe(1)
  expect(JSON.parse(unknown.out).errors[0].message).toContain('nope')
  const rejected = await muster(['api', 'mutation { pauseQueue(input: { reason: "x" }) { ... on Error { code message } } }'])
  expect(rejected).toMatchObject({ code: 3, out: expect.stringContaining('FORBIDDEN') })
  for (const args of [[], ['{ a }', '-f', 'x'], ['{ a }', '--var', 'x'], ['{ a }', '--variables', '[]']])
    expect((await muster(['api', ...args])).code).toBe(2)
})

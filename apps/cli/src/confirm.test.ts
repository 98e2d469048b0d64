import { afterAll, beforeAll, expect, it } from 'vitest'
import { muster, startTestApi, type TestApi } from './testing/muster.ts'

let t: TestApi
beforeAll(async () => {
  t = await startTestApi()
  const { admin } = await t.given.tenant()
  await t.given.fleet(admin, { nodes: 3 })
  await t.signIn(admin)
  await muster('node decommission all')
})
afterAll(() => t?.close())

/** Types a line at a terminal. */
const musterAsked = (words: string, answer: string) => muster(words, `${answer}\n`, true)
const QUESTION = 'Confirmation (yes or no): '

it.each(['no', '', 'y'])('changes nothing after the answer %j', async (answer) => {
  const { code, out, err } = await musterAsked('node purge gpu*', answer)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toContain(`Delete 3 nodes: gpu001, gpu002, gpu003. This cannot be undone.\n${QUESTION}`)
  expect(err).toContain('Nothing was changed.')
})

it('continues after yes, and does not ask for one name or with --yes', async () => {
  const asked = await musterAsked('node purge gpu*1', 'yes')
  expect(asked.err).toContain(QUESTION)
  expect(asked.out).toBe('gpu001: deleted\n')
  for (const [words, name] of [
    ['node purge gpu002', 'gpu002'],
    ['node purge all -y', 'gpu003'],
  ] as const)
    expect(await musterAsked(words, 'no')).toMatchObject({
      out: `${name}: deleted\n`,
      err: expect.not.stringContaining(QUESTION),
    })
})

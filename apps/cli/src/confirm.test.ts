import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { prompt } from './prompt.ts'
import { muster, startTestApi, type TestApi } from './testing/muster.ts'

vi.mock('./prompt.ts', { spy: true })

let t: TestApi
beforeAll(async () => {
  t = await startTestApi()
  const { admin } = await t.given.tenant()
  await t.given.fleet(admin, { nodes: 3 })
  await t.signIn(admin)
  await muster('node decommission all')
})
beforeEach(() => {
  vi.mocked(prompt).mockClear()
})
afterAll(() => t?.close())

it.each(['no', '', 'y'])('changes nothing after the answer %j', async (answer) => {
  vi.mocked(prompt).mockResolvedValueOnce(answer)
  expect(await muster('node purge gpu*')).toEqual({
    code: 1,
    out: '',
    err: 'Delete 3 nodes: gpu001, gpu002, gpu003. This cannot be undone.\nNothing was changed.\n',
  })
})

it('continues after yes, and does not ask for one name or with --yes', async () => {
  vi.mocked(prompt).mockResolvedValueOnce('yes')
  expect((await muster('node purge gpu*1')).out).toBe('gpu001: deleted\n')
  expect(prompt).toHaveBeenCalledOnce()
  expect((await muster('node purge gpu002')).out).toBe('gpu002: deleted\n')
  expect((await muster('node purge all -y')).out).toBe('gpu003: deleted\n')
  expect(prompt).toHaveBeenCalledOnce()
})

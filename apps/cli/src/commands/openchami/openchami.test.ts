import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type CheckOutcome,
  claimOpenchamiTarget,
  finishOpenchamiCheck,
} from '../../../../../packages/core/src/openchami/index.ts'
import type { TenantFixture } from '../../../../../packages/core/src/testing/index.ts'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

// The worker compares and pushes, and has the tests of that; here the test records its results.

let t: TestApi
let ours: TenantFixture
beforeAll(async () => {
  t = await startTestApi()
  ours = await t.given.tenant()
  await t.signIn(ours.admin)
})
afterAll(() => t?.close())

/** Finishes the check that the command requests, as a worker does. */
async function answer(line: string, outcome: CheckOutcome) {
  const command = muster(line)
  const claimed = await expect
    .poll(async () => {
      const found = await claimOpenchamiTarget(t.runtime)
      if (found) claim = found
      return found
    })
    .not.toBeNull()
    .then(() => claim!)
  await finishOpenchamiCheck({ ...ours.system, actor: { kind: 'worker', id: 'w', name: 'w' } }, claimed, outcome)
  return { ...(await command), mode: claimed.mode }
}
let claim: Awaited<ReturnType<typeof claimOpenchamiTarget>> = null

const changed = {
  ...{ object: 'component x1000c0s1b0n0', state: 'DIFFERENT' as const },
  fields: [{ field: 'NID', theirs: 77, ours: 1 }],
}

it('sets, compares, pushes and removes the target', async () => {
  expect(await muster('openchami diff')).toMatchObject({ code: 4, err: expect.stringContaining('openchami target set') })
  expect(await muster('openchami target set --mode push')).toMatchObject({ code: 5, err: expect.stringContaining('smdUrl') })
  expect(
    await muster('openchami target set --smd https://smd.example.com/ --interval 600 --mode off --stdin', 'eyJ0.a.jwt\n'),
  ).toMatchObject({ code: 0 })
  const { out } = await muster('openchami target get')
  expect(out).toMatch(
    /^SMD +https:\/\/smd.example.com$[\s\S]*^token +stored$[\s\S]*^interval +on request only$[\s\S]*^state +PENDING$/m,
  )
  expect(out).not.toContain('eyJ0')

  expect(await answer('openchami diff', { differences: [changed], written: 0 })).toMatchObject({
    ...{ code: 1, mode: 'REPORT' },
    out: expect.stringMatching(/^component x1000c0s1b0n0 +DIFFERENT +NID: 77 -> 1$/m),
  })
  expect(await muster('openchami push')).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect(await answer('openchami push --yes', { differences: [], written: 1 })).toMatchObject({
    ...{ code: 0, mode: 'PUSH' },
    err: expect.stringContaining('No differences.\nWrote 1 object.\n'),
  })
  expect(await answer('openchami diff', { error: 'https://smd.example.com cannot be reached.', written: 0 })).toMatchObject({
    ...{ code: 6, err: expect.stringContaining('cannot be reached') },
  })
  expect((await muster('openchami target get')).out).toMatch(/^state +FAILING$/m)
  expect((await muster('openchami target remove --yes')).code).toBe(0)
  expect((await muster('openchami target get')).code).toBe(4)
})

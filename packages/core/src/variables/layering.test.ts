import { test } from 'vitest'
import { checkLayering } from '../testing/check-layering.ts'
import { testRuntime } from '../testing/index.ts'

test('what holds on the nodes of 100 random trees is what the reference says', async () => {
  const t = await testRuntime()
  await checkLayering(t, 1)
  await t.close()
})
